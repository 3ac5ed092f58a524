import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Benchmark, Finding, Row } from './benchmark.ts'
import type { HostMethods } from './delivery/host-process.ts'
import { publishFor, startHost, startReceiver } from './delivery/stage.ts'
import { eventsOf, waitingDatabase } from './growth/waiting.ts'
import type { Process } from './process.ts'
import { now } from './traffic.ts'

const WEBHOOKS = 100
const EVENT = 'order.created'
const RATE = 1000
const PARTS = 5
const SAMPLE_EVERY_MS = 500

export const memoryBacklog: Benchmark = {
  name: 'memory-backlog',
  title: 'The memory of a process that works off a backlog of a million deliveries.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const jobs = bench.size(1_000_000, 5000)
    const database = await waitingDatabase(bench, receiver, { webhooks: WEBHOOKS, jobs })
    const host = await startHost(bench, { database, events: eventsOf(WEBHOOKS) })
    const startedAt = now()
    const rows = await memoryRows(host, 600, async () => {
      const count = await receiver.call('count')
      bench.tell(`${count} delivered`)
      return count / jobs
    })
    const seconds = (now() - startedAt) / 1000
    const settings = { jobs, webhooks: WEBHOOKS, 'seconds taken': Math.round(seconds) }
    return [
      {
        title: 'Memory (RSS) while a backlog is worked off, by how much of it is done',
        unit: 'MiB',
        better: 'less',
        settings,
        rows,
      },
      {
        title: 'The backlog worked off',
        unit: 'deliveries per second',
        better: 'more',
        settings,
        rows: [{ name: 'from the first to the last', samples: [jobs / seconds] }],
      },
    ]
  },
}

export const memorySoak: Benchmark = {
  name: 'memory-soak',
  title: 'The memory of a process under a steady load: a minute of it, ten with --long.',
  limitSeconds: 240,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const host = await startHost(bench, { events: [EVENT] })
    await host.call('register', [{ url: receiver.at('/ok'), events: [EVENT] }])
    const seconds = bench.long ? 600 : bench.size(60, 3)
    const startedAt = now()
    const [rows] = await Promise.all([
      memoryRows(host, seconds + 30, async () => (now() - startedAt) / 1000 / seconds),
      publishFor(host, EVENT, RATE, seconds),
    ])
    const { p50, p99 } = await receiver.call('latency')
    const settings = { seconds, 'events per second': RATE, payload: '500 bytes' }
    return [
      {
        title: 'Memory (RSS) under steady load, by how much of the time has passed',
        unit: 'MiB',
        better: 'less',
        settings,
        rows,
      },
      {
        title: 'Latency over the whole time',
        unit: 'ms',
        better: 'less',
        settings,
        rows: [
          { name: 'p50', samples: [p50] },
          { name: 'p99', samples: [p99] },
        ],
      },
    ]
  },
}

/**
 * Samples the memory of a host twice a second until all is done: one row for each fifth of the
 * work. The first fifth, in which the process warms up, is no baseline.
 */
export async function memoryRows(
  host: Process<HostMethods>,
  withinSeconds: number,
  shareDone: () => Promise<number>,
): Promise<Row[]> {
  const name = (part: number) => `${(part * 100) / PARTS}–${((part + 1) * 100) / PARTS} %`
  const rows = Array.from({ length: PARTS }, (_, part): Row => ({
    name: name(part),
    samples: [],
    ...(part > 1 ? { against: name(1) } : {}),
    ...(part === PARTS - 1 ? { goal: { ratioAtLeast: 0.9 } } : {}),
  }))
  const deadline = now() + withinSeconds * 1000
  for (;;) {
    const share = await shareDone()
    const part = Math.min(PARTS - 1, Math.floor(share * PARTS))
    rows[part]?.samples.push(await host.rssMegabytes())
    if (share >= 1) return rows
    if (now() > deadline) throw new Error(`only ${share} of it is done after ${withinSeconds} s`)
    await pause(SAMPLE_EVERY_MS)
  }
}
