/** Very many deliveries of one webhook are recovered while another webhook gets fresh events. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Benchmark, Finding, Row } from '../benchmark.ts'
import type { HostMethods } from '../delivery/host-process.ts'
import { publishFor, startHost, startReceiver, type Receiver } from '../delivery/stage.ts'
import { growthOf, type Figures, type Spread } from '../measure.ts'
import { memoryRows } from '../memory.ts'
import { multiply } from '../postgres/server.ts'
import type { Process } from '../process.ts'
import { now } from '../traffic.ts'

type What = 'dead' | 'missing'

const EVENT = 'order.created'
const FRESH_EVENT = 'order.shipped'
/** Fresh events in a second. */
const RATE = 50
const DEAD_LETTERS = '__svc.webhooks.deliver.dlq'
const PATHS: Record<What | 'fresh', string> = {
  dead: '/down',
  missing: '/late',
  fresh: '/fresh',
}
const RECOVERED_WITHIN_SECONDS = 1500

interface Recovered {
  figures: Figures
  fresh: Spread
  memory: Row[]
}

export const growthRecovery: Benchmark = {
  name: 'growth-recovery',
  title:
    'Dead letters and missed events recovered beside fresh deliveries: 100 000 of each, a million with --long.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const count = bench.long ? 1_000_000 : bench.size(100_000, 3000)
    const database = await bench.database()
    await makeDeadLetters(bench, receiver, database, count)
    const alone = await withHost(bench, database, async (host) => {
      await receiver.call('reset')
      await publishFresh(host, bench.size(30, 2))
      return receiver.call('latency', [PATHS.fresh])
    })
    await receiver.call('repair')
    const recover = (what: What) =>
      withHost(bench, database, (host) => recovered(bench, receiver, host, what, count))
    const dead = await recover('dead')
    const missing = await recover('missing')
    return [...findingsOf({ dead, missing }, count), latencyFinding(alone, { dead, missing })]
  },
}

/** One delivery fails and is copied with its event. */
async function makeDeadLetters(
  bench: Bench,
  receiver: Receiver,
  database: string,
  count: number,
): Promise<void> {
  bench.tell(`preparing ${count} dead letters`)
  await withHost(bench, database, async (host) => {
    await host.call('register', [
      { url: receiver.at(PATHS.dead), events: [EVENT] },
      { url: receiver.at(PATHS.fresh), events: [FRESH_EVENT] },
    ])
    await host.call('publish', [EVENT], 1, 1)
    while ((await host.call('deadLetters', receiver.at(PATHS.dead))) === 0) await pause(50)
    // Registered after the event: it has missed all of them.
    await host.call('register', [{ url: receiver.at(PATHS.missing), events: [EVENT] }])
  })
  await multiply(database, 'svc."__svc.events"', {
    where: `row.name = '${EVENT}'`,
    count: count - 1,
    columns: { id: `row.id || '/' || n` },
  })
  await multiply(database, 'svc_jobs.job_common', {
    where: `row.name = '${DEAD_LETTERS}'`,
    count: count - 1,
    columns: {
      id: 'gen_random_uuid()',
      data: `row.data || jsonb_build_object('eventId', (row.data ->> 'eventId') || '/' || n,
               'deliveryId', gen_random_uuid())`,
      created_on: `row.created_on + n * interval '1 microsecond'`,
    },
  })
}

/** In a process of its own, whose memory shows this work alone. */
async function withHost<Result>(
  bench: Bench,
  database: string,
  work: (host: Process<HostMethods>) => Promise<Result>,
): Promise<Result> {
  const events = [EVENT, FRESH_EVENT]
  const host = await startHost(bench, { database, events, worker: { maxAttempts: 1 } })
  const result = await work(host)
  await host.stop()
  return result
}

const publishFresh = (host: Process<HostMethods>, seconds: number) =>
  publishFor(host, FRESH_EVENT, RATE, seconds)

async function recovered(
  bench: Bench,
  receiver: Receiver,
  host: Process<HostMethods>,
  what: What,
  count: number,
): Promise<Recovered> {
  const path = PATHS[what]
  const url = receiver.at(path)
  await publishFresh(host, 1)
  await receiver.call('reset')
  const idleMegabytes = await host.rssMegabytes()
  const countedFrom = now()
  const counted = await host.call('recover', url, what, true)
  const startedAt = now()
  const begun = await host.call('recover', url, what, false)
  const answeredAt = now()
  let isDone = false
  const fresh = async () => {
    while (!isDone) await publishFresh(host, 1)
  }
  const shareDone = async () => {
    const got = await receiver.call('countOf', path)
    bench.tell(`${what}: ${got} of ${count} received`)
    isDone = got >= count
    return got / count
  }
  const counters = { host: host.cpu, Postgres: bench.postgresCpu }
  const { result: memory, growth } = await growthOf(counters, async () => {
    const watched = memoryRows(host, RECOVERED_WITHIN_SECONDS, shareDone)
    const [rows] = await Promise.all([watched.finally(() => (isDone = true)), fresh()])
    return rows
  })
  const seconds = ((await receiver.call('lastAt', [path])) - startedAt) / 1000
  const progress = await finished(host, url)
  const got = await receiver.call('countOf', path)
  const counts = { counted, begun, done: progress.done, got }
  if (Object.values(counts).some((one) => one !== count)) {
    throw new Error(`not the same counts, of ${count}: ${JSON.stringify(counts)}`)
  }
  return {
    figures: {
      rate: count / seconds,
      dryRunMs: startedAt - countedFrom,
      answerMs: answeredAt - startedAt,
      idleMegabytes,
      host: (growth.host ?? Number.NaN) / count,
      Postgres: (growth.Postgres ?? Number.NaN) / count,
    },
    fresh: await receiver.call('latency', [PATHS.fresh]),
    memory,
  }
}

async function finished(host: Process<HostMethods>, url: string) {
  for (;;) {
    const recovery = await host.call('recovery', url)
    if (recovery.isFinished) return recovery
    await pause(200)
  }
}

function findingsOf(all: Record<What, Recovered>, count: number): Finding[] {
  const settings = { deliveries: count, payload: '500 bytes', 'fresh events per second': RATE }
  const entries = Object.entries(all)
  const rowsOf = (figure: string): Row[] =>
    entries.map(([name, { figures }]) => ({ name, samples: [figures[figure] ?? Number.NaN] }))
  const finding = (title: string, unit: string, better: 'more' | 'less', rows: Row[]): Finding => ({
    title,
    unit,
    better,
    settings,
    rows,
  })
  return [
    finding('Recovered and received', 'deliveries per second', 'more', rowsOf('rate')),
    finding('Answer to a dry run, which counts', 'ms', 'less', rowsOf('dryRunMs')),
    finding('Answer to the recovery', 'ms', 'less', rowsOf('answerMs')),
    ...['host', 'Postgres'].map((who) =>
      finding(`CPU, ${who}`, 'µs of CPU per recovered delivery', 'less', rowsOf(who)),
    ),
    ...entries.map(([name, { figures, memory }]) =>
      finding(`Memory (RSS) while ${name} deliveries are recovered`, 'MiB', 'less', [
        { name: 'before', samples: [figures.idleMegabytes ?? Number.NaN] },
        ...memory,
      ]),
    ),
  ]
}

/** From the publish to the arrival. */
function latencyFinding(alone: Spread, all: Record<What, Recovered>): Finding {
  const rows = (['p50', 'p99'] as const).flatMap((figure): Row[] => [
    { name: `${figure}, no recovery`, samples: [alone[figure]] },
    ...Object.entries(all).map(([name, { fresh }]): Row => ({
      name: `${figure}, while ${name} deliveries are recovered`,
      samples: [fresh[figure]],
      against: `${figure}, no recovery`,
      ...(figure === 'p99' ? { goal: { atMost: 100 } } : {}),
    })),
  ])
  return {
    title: 'Latency of fresh deliveries',
    unit: 'ms',
    better: 'less',
    settings: { 'fresh events per second': RATE },
    rows,
  }
}
