import { promises as dns } from 'node:dns'

/** Four tries of 0.5, 1, 2 and 4 s: a name server that takes longer is of no use to a delivery. */
const PATIENCE = { timeout: 500, tries: 4 }
/** A resolver reads the system's configuration once, which changes with the network. */
const RENEWED_AFTER_MS = 10_000
/**
 * What name servers answer of a name, besides its addresses. `SERVFAIL` is not among it: the servers
 * of the name did not answer the one that was asked. A refused connection is: the system's resolver
 * is told of it as quickly.
 */
const ANSWERS = new Set(['ENOTFOUND', 'ENODATA', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'ECONNREFUSED'])

/**
 * Finds out whether the name servers of a name answer. Asks them by c-ares, which holds no thread,
 * for both kinds of address: the system's resolver waits for both.
 */
export class NameServers {
  readonly #servers: string[] | undefined
  #resolver: dns.Resolver
  #before: dns.Resolver | undefined
  #madeAt = performance.now()

  /** @param servers instead of those of the system */
  constructor(servers?: string[]) {
    this.#servers = servers
    this.#resolver = this.#open()
  }

  /** Never rejects; false where they are silent. */
  async answer(hostname: string): Promise<boolean> {
    this.#renew()
    const questions = [this.#resolver.resolve4(hostname), this.#resolver.resolve6(hostname)]
    return (await Promise.all(questions.map(isAnswered))).every(Boolean)
  }

  /** Ends what is being asked: it counts as silent. */
  close(): void {
    this.#resolver.cancel()
    this.#before?.cancel()
  }

  #renew(): void {
    const now = performance.now()
    if (now - this.#madeAt < RENEWED_AFTER_MS) return
    this.#madeAt = now
    // What it was asked is over before it would be replaced here: the tries take 7.5 s.
    this.#before = this.#resolver
    this.#resolver = this.#open()
  }

  #open(): dns.Resolver {
    const resolver = new dns.Resolver(PATIENCE)
    if (this.#servers !== undefined) resolver.setServers(this.#servers)
    return resolver
  }
}

const isAnswered = (question: Promise<string[]>): Promise<boolean> =>
  question.then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== undefined && ANSWERS.has(code),
  )
