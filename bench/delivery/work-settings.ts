import type { Bench } from '../benchmark.ts'
import { startProcess, type Process } from '../processes/process.ts'
import type { BossWorkMethods, WorkOptions } from './boss-work-process.ts'

type Settings = Omit<WorkOptions, 'database' | 'url'>

/** One batch handler, as the first page of pg-boss's documentation suggests; its shortest poll. */
export const FIRST: Settings = {
  notify: false,
  burst: false,
  batchSize: 100,
  pollingIntervalSeconds: 0.5,
  workers: 1,
}

/** The fastest that its settings gave here: woken by NOTIFY, and no pause after a full batch. */
export const FASTEST: Settings = {
  notify: true,
  burst: true,
  batchSize: 100,
  pollingIntervalSeconds: 0.5,
  workers: 1,
}

export async function startBossWork(
  bench: Bench,
  url: string,
  settings: Settings,
): Promise<Process<BossWorkMethods>> {
  const process = await startProcess<BossWorkMethods>(
    new URL('boss-work-process.ts', import.meta.url),
  )
  const database = await bench.database()
  bench.owns(process)
  await process.call('start', { database, url, ...settings })
  return process
}
