/** The clock, the payloads and the pace of what benchmarks send. */

/** Milliseconds on a monotonic clock that all processes of the machine share. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

/** Bytes of a payload's JSON text. */
const PAYLOAD_BYTES = 500

export interface Payload {
  /** When it was made, for the receiver to subtract. */
  sentAt: number
  order: number
  note: string
}

export function payloadOf(order: number): Payload {
  const payload = { sentAt: now(), order, note: '' }
  payload.note = 'x'.repeat(PAYLOAD_BYTES - JSON.stringify(payload).length)
  return payload
}

/** Runs `count` tasks, at most `most` at a time. The first error ends it. */
export async function withMostInFlight(
  count: number,
  most: number,
  task: (index: number) => Promise<unknown>,
): Promise<void> {
  let started = 0
  const lane = async (): Promise<void> => {
    while (started < count) await task(started++)
  }
  await Promise.all(Array.from({ length: Math.min(count, most) }, lane))
}

/**
 * Starts tasks at an even pace, whether earlier ones have ended or not, and waits for all. The first error
 * ends it. Nothing is kept of a task that has ended: the memory of the process may be measured.
 */
export async function atRate(
  { rate, seconds }: { rate: number; seconds: number },
  task: (index: number) => Promise<unknown>,
): Promise<void> {
  const count = Math.round(rate * seconds)
  const startedAt = now()
  let [started, ended] = [0, 0]
  await new Promise<void>((resolve, reject) => {
    const end = (): void => {
      if (++ended === count) resolve()
    }
    const dueAt = (): number => startedAt + (started * 1000) / rate
    // A timer for each start, not one each millisecond: that would cost more than a task at 50 a second.
    const startDue = (): void => {
      while (started < count && dueAt() <= now()) task(started++).then(end, reject)
      if (started < count) setTimeout(startDue, Math.ceil(dueAt() - now()))
    }
    startDue()
  })
}
