/** The processes of a delivery benchmark. */
import type { Bench, Checkout } from '../benchmark.ts'
import type { Process } from '../process.ts'
import type { ByHandMethods, WorkOptions } from './by-hand-process.ts'
import type { HostMethods, HostOptions } from './host-process.ts'
import type { ReceiverMethods } from './receiver-process.ts'

export interface Receiver extends Process<ReceiverMethods> {
  /** The URL of a path at it. */
  at(path: string): string
}

export async function startReceiver(bench: Bench): Promise<Receiver> {
  const receiver = await bench.start<ReceiverMethods>('delivery/receiver-process.ts')
  const port = await receiver.call('listen')
  return { ...receiver, at: (path) => `http://127.0.0.1:${port}${path}` }
}

/** An application with the plugins, on a database of its own unless one is given. */
export async function startHost(
  bench: Bench,
  options: Omit<HostOptions, 'database'> & { database?: string },
  checkout?: Checkout,
): Promise<Process<HostMethods>> {
  const database = options.database ?? (await bench.database())
  const host = await bench.start<HostMethods>('delivery/host-process.ts', { checkout })
  await host.call('start', { ...options, database })
  return host
}

/** In parts: one call would hold a promise for each event until the end. */
export async function publishFor(
  host: Process<HostMethods>,
  event: string,
  rate: number,
  seconds: number,
): Promise<void> {
  for (let left = seconds; left > 0; left -= 5) {
    await host.call('publishAtRate', [event], rate, Math.min(5, left))
  }
}

export const startByHand = (bench: Bench): Promise<Process<ByHandMethods>> =>
  bench.start<ByHandMethods>('delivery/by-hand-process.ts')

/** pg-boss that delivers to a URL, on a database of its own. */
export async function startBossWork(
  bench: Bench,
  url: string,
  options: WorkOptions,
): Promise<Process<ByHandMethods>> {
  const process = await startByHand(bench)
  await process.call('work', await bench.database(), url, options)
  return process
}
