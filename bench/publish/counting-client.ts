import pg from 'pg'

/** A client that counts its round trips. */
export class CountingClient {
  queries = 0
  #client: pg.Client

  constructor(connectionString: string) {
    this.#client = new pg.Client({ connectionString })
  }

  connect = () => this.#client.connect()
  end = () => this.#client.end()

  query(text: string, values?: unknown[]): Promise<pg.QueryResult> {
    this.queries++
    return this.#client.query(text, values)
  }
}
