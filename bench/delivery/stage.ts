import type { Bench } from '../benchmark.ts'
import { startProcess, type Process } from '../processes/process.ts'
import type { ReceiverMethods } from '../receiver/receiver-process.ts'
import type { HostMethods, HostOptions } from './host-process.ts'

export interface Receiver extends Process<ReceiverMethods> {
  /** The address of a path at it. */
  at(path: string, host?: string): string
}

/** A receiver on loopback: at 127.0.0.1, or at several addresses. */
export async function startReceiver(bench: Bench, hosts?: string[]): Promise<Receiver> {
  const receiver = await startProcess<ReceiverMethods>(
    new URL('../receiver/receiver-process.ts', import.meta.url),
  )
  bench.owns(receiver)
  const { port } = await receiver.call('listen', hosts)
  return { ...receiver, at: (path, host = '127.0.0.1') => `http://${host}:${port}${path}` }
}

/** An application with the plugins, on a database of its own unless one is given. */
export async function startHost(
  bench: Bench,
  options: Omit<HostOptions, 'database'> & { database?: string },
): Promise<Process<HostMethods>> {
  const database = options.database ?? (await bench.database())
  const host = await startProcess<HostMethods>(new URL('host-process.ts', import.meta.url))
  bench.owns(host)
  await host.call('start', { ...options, database })
  return host
}
