import type { HostMethods } from '../delivery/host-process.ts'
import type { Row } from '../benchmark.ts'
import type { Process } from '../processes/process.ts'

export interface Sample {
  /** How much of the work was done, from 0 to 1. */
  done: number
  rssMegabytes: number
  heapMegabytes: number
}

/** Looks at a process twice a second until all is done. */
export async function sampleUntilDone(
  host: Process<HostMethods>,
  done: () => Promise<number>,
  withinSeconds: number,
): Promise<Sample[]> {
  const samples: Sample[] = []
  const deadline = Date.now() + withinSeconds * 1000
  for (;;) {
    const share = await done()
    samples.push({ done: share, ...(await host.call('usage')) })
    if (share >= 1) return samples
    if (Date.now() > deadline) throw new Error(`Only ${share} of it done in ${withinSeconds} s.`)
    await new Promise((resolve) => {
      setTimeout(resolve, 500)
    })
  }
}

const PARTS = 5

/** One row for each fifth of the work; the first, in which everything warms up, is no measure. */
export function rowsByPart(samples: Sample[], figure: 'rssMegabytes' | 'heapMegabytes'): Row[] {
  const name = (part: number) => `${(part * 100) / PARTS}–${((part + 1) * 100) / PARTS} %`
  return Array.from({ length: PARTS }, (_, part) => ({
    name: name(part),
    samples: samples
      .filter(({ done }) => Math.min(PARTS - 1, Math.floor(done * PARTS)) === part)
      .map((sample) => sample[figure]),
    ...(part > 1 ? { against: name(1) } : {}),
    ...(part === PARTS - 1 ? { goal: { ratioAtLeast: 0.9 } } : {}),
  }))
}
