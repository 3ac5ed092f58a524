import { now } from '../measure/clock.ts'

/** Starts `count` tasks, at most `most` of them under way, and waits for all. The first error ends it. */
export function withMostInFlight(
  count: number,
  most: number,
  task: (index: number) => Promise<unknown>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let [started, ended] = [0, 0]
    const start = (): void => {
      while (started < count && started - ended < most) {
        task(started++).then(() => {
          ended++
          if (ended === count) resolve()
          else start()
        }, reject)
      }
    }
    if (count === 0) resolve()
    else start()
  })
}

/** Starts tasks at an even pace, whether those before have ended or not, and waits for all. */
export async function atRate(
  { rate, seconds }: { rate: number; seconds: number },
  task: (index: number) => Promise<unknown>,
): Promise<void> {
  const count = Math.round(rate * seconds)
  const startedAt = now()
  const running: Promise<unknown>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      while (running.length < count && startedAt + (running.length * 1000) / rate <= now()) {
        running.push(task(running.length))
      }
      if (running.length < count) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  await Promise.all(running)
}
