import type { LookupAddress } from 'node:dns'
import { Mutex } from './mutex.ts'

/** Asks the system's resolver for all addresses of a name: `node:dns`'s `lookup`, or a test's. */
export type Lookup = (
  hostname: string,
  options: { all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

export type Resolve = (hostname: string) => Promise<LookupAddress[]>

/**
 * Whether the name servers of a name answer at all. The query holds no thread. False where they are
 * silent, and where that cannot be determined. Never rejects. By default all count as answering: a
 * lookup other than the system's is not known to hold a thread.
 */
export type Answers = (hostname: string) => Promise<boolean>

/**
 * Resolves names by the system's resolver, so that hosts file, search domains and NSS count, and so
 * that names whose name servers are silent delay no others.
 *
 * libuv runs lookups on its thread pool, and no more than half of its threads (two of four) at a
 * time. A lookup holds its thread until silent name servers are given up (10 s and more), and
 * cannot be cancelled. Therefore one lookup may start at any time. While that one runs, another
 * name is looked up only when its name servers have answered, so that its lookup is short; other
 * names wait for the first lookup to end.
 *
 * The bound: names whose name servers are silent hold one thread together, however many they are
 * and from the first lookup of the process on. A name whose name servers answer waits for its turn
 * no longer than they take to answer. The bound does not cover two cases: servers that fall silent
 * between that answer and the lookup (one lookup each), and names that the system resolves by other
 * means than DNS, or on a host without DNS: these have one thread together.
 *
 * No address is cached: every connection looks its name up.
 */
export function createResolver(
  timeoutMs: number,
  lookup: Lookup,
  answers: Answers = async () => true,
  now: () => number = () => performance.now(),
): Resolve {
  const pending = new Map<string, PendingLookup>()
  const slot = new Mutex()

  function start(hostname: string): PendingLookup {
    const { promise: admitted, resolve: admit } = Promise.withResolvers<Admission>()
    const enter = () => admit('slot')
    let isAsking = false

    async function askNameServers(): Promise<void> {
      if (isAsking || !slot.isWaiting(enter)) return
      isAsking = true
      const answered = await answers(hostname)
      isAsking = false
      if (answered && slot.withdraw(enter)) admit('answered')
    }

    async function run(): Promise<LookupAddress[]> {
      const admission = await admitted
      try {
        if (now() >= current.wantedUntil) throw new LookupTimeout(hostname)
        return await lookedUp(hostname, lookup)
      } finally {
        pending.delete(hostname)
        if (admission === 'slot') slot.leave()
      }
    }

    slot.enter(enter)
    const current: PendingLookup = { wantedUntil: Infinity, askNameServers, answer: run() }
    pending.set(hostname, current)
    return current
  }

  return (hostname) => {
    const current = pending.get(hostname) ?? start(hostname)
    // The attempts that share a lookup have deadlines of their own: the last of them counts.
    current.wantedUntil = now() + timeoutMs
    void current.askNameServers()
    return current.answer
  }
}

/** The lookup of a name, from the first attempt that needs it to its answer. */
interface PendingLookup {
  wantedUntil: number
  /** While it waits for the slot: once for each attempt, since silent servers may answer again. */
  askNameServers(): Promise<void>
  answer: Promise<LookupAddress[]>
}

/** The lookup holds the slot, or the name servers have answered. */
type Admission = 'slot' | 'answered'

const lookedUp = (hostname: string, lookup: Lookup): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, found) =>
      error === null ? resolve(found) : reject(error),
    )
  })

class LookupTimeout extends Error {
  readonly code = 'ETIMEDOUT'
  constructor(hostname: string) {
    super(`no lookup of ${hostname} could start in the time of its attempt`)
  }
}
