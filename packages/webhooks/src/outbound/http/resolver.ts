import type { LookupAddress } from 'node:dns'
import { Lane } from './single-slot.ts'

/** Asks the system's resolver for all addresses of a name: `node:dns`'s `lookup`, or a test's. */
export type Lookup = (
  hostname: string,
  options: { all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

export type Resolve = (hostname: string) => Promise<LookupAddress[]>

/**
 * Whether the name servers of a name answer at all, found out without a thread. False where they
 * are silent and where that cannot be told. Never rejects. By default all count as answering: a
 * lookup that is not the system's is not known to hold a thread.
 */
export type Answers = (hostname: string) => Promise<boolean>

/**
 * Resolves names by the system's resolver, so that hosts file, search domains and NSS count, and so
 * that names whose name servers are silent delay no others.
 *
 * libuv runs lookups on its thread pool, and no more than half of its threads (two of four) at a
 * time. A lookup holds its thread until silent name servers are given up (10 s and more), and cannot
 * be cancelled. Therefore one lookup may start at any time. While that one runs, another name is
 * looked up only when its name servers have answered, so that its lookup is short; other names wait
 * for the first lookup to end.
 *
 * The bound: names whose name servers are silent hold one thread together, however many they are and
 * from the first lookup of the process on. A name whose name servers answer waits for its turn no
 * longer than they take to answer. Two cases are outside of it: servers that fall silent between
 * that answer and the lookup (one lookup each), and names that the system resolves by other means
 * than DNS, or on a host where DNS cannot be asked: these have one thread together.
 *
 * No address is remembered: every connection asks anew.
 */
export function fairResolver(
  timeoutMs: number,
  lookup: Lookup,
  answers: Answers = async () => true,
  now: () => number = () => performance.now(),
): Resolve {
  const flights = new Map<string, Flight>()
  const lane = new Lane()

  function takeOff(hostname: string): Flight {
    const { promise: admitted, resolve: admit } = Promise.withResolvers<Admission>()
    const enter = () => admit('lane')
    let isAsking = false

    async function askNameServers(): Promise<void> {
      if (isAsking || !lane.isWaiting(enter)) return
      isAsking = true
      const answered = await answers(hostname)
      isAsking = false
      if (answered && lane.withdraw(enter)) admit('answered')
    }

    async function fly(): Promise<LookupAddress[]> {
      const admission = await admitted
      try {
        if (now() >= flight.wantedUntil) throw new LookupTimeout(hostname)
        return await lookedUp(hostname, lookup)
      } finally {
        flights.delete(hostname)
        if (admission === 'lane') lane.leave()
      }
    }

    lane.enter(enter)
    const flight: Flight = { wantedUntil: Infinity, askNameServers, answer: fly() }
    flights.set(hostname, flight)
    return flight
  }

  return (hostname) => {
    const flight = flights.get(hostname) ?? takeOff(hostname)
    // The attempts that share a lookup have deadlines of their own: the last of them counts.
    flight.wantedUntil = now() + timeoutMs
    void flight.askNameServers()
    return flight.answer
  }
}

/** The lookup of a name, from the first attempt that asks for it to its answer. */
interface Flight {
  wantedUntil: number
  /** While it waits for the lane: once for each attempt, since servers that were silent may be back. */
  askNameServers(): Promise<void>
  answer: Promise<LookupAddress[]>
}

/** It holds the lane, or the name servers have answered. */
type Admission = 'lane' | 'answered'

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
