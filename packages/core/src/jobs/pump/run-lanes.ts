/** The loop that refills lanes, one after the other, until it is told to stop. */
import type { Lane } from '../job.ts'
import { pauseMsAfter } from './poll-interval.ts'
import type { WakeableSleep } from './wakeable-sleep.ts'

export interface PumpLog {
  error(details: object, message: string): void
  info(details: object, message: string): void
}

interface Parts {
  queue: string
  /** Returns how long to wait before the next time. */
  refill: (lane: Lane) => Promise<number>
  sleep: WakeableSleep
  isStopping: () => boolean
  fetchFailed: () => void
  log: PumpLog
}

export async function runLanes(lanes: Lane[], parts: Parts): Promise<void> {
  const { queue, refill, sleep, isStopping, fetchFailed, log } = parts
  let failures = 0
  while (!isStopping()) {
    try {
      let waitMs = Infinity
      for (const lane of lanes) waitMs = Math.min(waitMs, await refill(lane))
      lanes.reverse()
      if (failures > 0) log.info({ queue }, 'fetching jobs works again')
      failures = 0
      if (waitMs > 0) await sleep.sleep(waitMs)
    } catch (error) {
      fetchFailed()
      if (failures === 0) log.error({ err: error, queue }, 'could not fetch jobs; it tries again')
      await sleep.sleep(pauseMsAfter(++failures))
    }
  }
}
