import { now } from '../measure/clock.ts'
import type { Connections } from './connections.ts'

export type NextRequest = () => Buffer

export interface Run {
  seconds: number
  /** How many answers had which status; 0 counts broken connections. */
  statuses: Record<number, number>
  /** Milliseconds, one for each answer. */
  latencies: Float64Array
}

/**
 * As many requests as there are connections, the next as soon as one is answered. `sleepless`: this
 * process keeps its core busy all the time. Whoever writes to a process that sleeps pays for waking
 * it, and a slower server finds it asleep more often: that would be measured as CPU of the server.
 */
export async function closedLoop(
  connections: Connections,
  next: NextRequest,
  requests: number,
  { sleepless = false }: { sleepless?: boolean } = {},
): Promise<Run> {
  const tally = new Tally(requests)
  const startedAt = now()
  await new Promise<void>((resolve) => {
    let sent = 0
    const stayAwake = (): void => {
      if (tally.count < requests) setImmediate(stayAwake)
    }
    if (sleepless) stayAwake()
    const send = (): void => {
      while (sent < requests && connections.hasFree) {
        const sentAt = now()
        connections.send(next(), (status) => {
          tally.add(status, now() - sentAt)
          if (tally.count === requests) resolve()
          else send()
        })
        sent++
      }
    }
    send()
  })
  return tally.run(now() - startedAt)
}

/**
 * So many requests a second, whether the server keeps up or not. A request that finds no free
 * connection is waiting from the moment when it was due: a slow server cannot hide behind the
 * client. How late the client's own timer is does not count.
 */
export async function openLoop(
  connections: Connections,
  next: NextRequest,
  { rate, seconds }: { rate: number; seconds: number },
): Promise<Run> {
  const requests = Math.round(rate * seconds)
  const tally = new Tally(requests)
  const startedAt = now()
  await new Promise<void>((resolve) => {
    const dueSince: number[] = []
    let sent = 0
    const send = (): void => {
      const at = now()
      while (dueSince.length < requests && startedAt + (dueSince.length * 1000) / rate <= at) {
        dueSince.push(at)
      }
      while (sent < dueSince.length && connections.hasFree) {
        const since = dueSince[sent++] as number
        connections.send(next(), (status) => {
          tally.add(status, now() - since)
          if (tally.count === requests) done()
          else send()
        })
      }
    }
    const timer = setInterval(send, 1)
    const done = (): void => {
      clearInterval(timer)
      resolve()
    }
  })
  return tally.run(now() - startedAt)
}

class Tally {
  count = 0
  #latencies: Float64Array
  #statuses: Run['statuses'] = {}

  constructor(requests: number) {
    this.#latencies = new Float64Array(requests)
  }

  add(status: number, latency: number): void {
    this.#latencies[this.count++] = latency
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
  }

  run(milliseconds: number): Run {
    return {
      seconds: milliseconds / 1000,
      statuses: this.#statuses,
      latencies: this.#latencies,
    }
  }
}
