import { promises as dns } from 'node:dns'

/** Four tries of 0.5, 1, 2 and 4 s: a delivery cannot wait longer for a name server. */
const RESOLVER_OPTIONS = { timeout: 500, tries: 4 }
/** A resolver reads the system's configuration once, and that changes with the network. */
const RENEWED_AFTER_MS = 10_000
/**
 * Codes that count as an answer of the name servers. `SERVFAIL` does not: the servers of the name
 * did not answer the queried server. A refused connection does: the system's resolver fails on it
 * as quickly.
 */
const ANSWERS = new Set(['ENOTFOUND', 'ENODATA', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'ECONNREFUSED'])

/**
 * Finds out whether the name servers of a name answer. It queries through c-ares, which holds no
 * thread, for both kinds of address, since the system's resolver waits for both.
 */
export class NameServers {
  readonly #servers: string[] | undefined
  #resolver: dns.Resolver
  #before: dns.Resolver | undefined
  #madeAt = performance.now()

  /** @param servers used instead of those of the system */
  constructor(servers?: string[]) {
    this.#servers = servers
    this.#resolver = this.#open()
  }

  /** Never rejects; false where the name servers are silent. */
  async answer(hostname: string): Promise<boolean> {
    this.#renew()
    const questions = [this.#resolver.resolve4(hostname), this.#resolver.resolve6(hostname)]
    return (await Promise.all(questions.map(isAnswered))).every(Boolean)
  }

  /** Cancels the open queries: they count as silent. */
  close(): void {
    this.#resolver.cancel()
    this.#before?.cancel()
  }

  #renew(): void {
    const now = performance.now()
    if (now - this.#madeAt < RENEWED_AFTER_MS) return
    this.#madeAt = now
    // Its queries end before it is replaced again: the tries take 7.5 s.
    this.#before = this.#resolver
    this.#resolver = this.#open()
  }

  #open(): dns.Resolver {
    const resolver = new dns.Resolver(RESOLVER_OPTIONS)
    if (this.#servers !== undefined) resolver.setServers(this.#servers)
    return resolver
  }
}

const isAnswered = (question: Promise<string[]>): Promise<boolean> =>
  question.then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== undefined && ANSWERS.has(code),
  )
