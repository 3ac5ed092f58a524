import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { startHost, startReceiver, type Receiver } from '../delivery/stage.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { multiply } from '../postgres/multiply.ts'
import { query } from '../postgres/server.ts'
import { startProcess } from '../processes/process.ts'

const EVENT = 'order.created'
const WEBHOOKS = 100
const DAYS = 28
const FEW = 10_000

export const growthDeliveryLog: Benchmark = {
  name: 'growth-log',
  title: "The newest page of a webhook's delivery log of ten million rows, against ten thousand.",
  limitSeconds: 1200,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const many = bench.size(10_000_000, 50_000)
    const requests = bench.size(500, 50)
    const load = bench.owns(
      await startProcess<LoadMethods>(new URL('../load/load-process.ts', import.meta.url)),
    )
    const contenders = []
    for (const count of [FEW, many]) {
      bench.tell(`writing ${count} rows of log`)
      const { url, webhook } = await hostWithLog(bench, receiver, count)
      for (const [page, search] of Object.entries(PAGES)) {
        contenders.push({
          name: `${count} rows, ${page}`,
          async measure() {
            await load.call('aim', Number(new URL(url).port), 1, {
              method: 'GET',
              path: `/_webhooks/${webhook}/deliveries${search}`,
              variants: [''],
            })
            const { latency, statuses } = await load.call('closedLoop', requests)
            if (statuses[200] !== requests) throw new Error(JSON.stringify(statuses))
            return { p50: latency.p50, p99: latency.p99 }
          },
        })
      }
    }
    const measured = await interleave(contenders, {
      warmUps: 1,
      rounds: bench.rounds,
      tell: bench.tell,
    })
    return ['p50', 'p99'].map((figure): Finding => ({
      title: `A page of the delivery log over HTTP, ${figure}`,
      unit: 'ms',
      better: 'less',
      settings: { webhooks: WEBHOOKS, days: DAYS },
      rows: Object.keys(PAGES).flatMap((page) => [
        {
          name: `${FEW} rows, ${page}`,
          samples: samplesOf(measured, `${FEW} rows, ${page}`, figure),
        },
        {
          name: `${many} rows, ${page}`,
          samples: samplesOf(measured, `${many} rows, ${page}`, figure),
          against: `${FEW} rows, ${page}`,
        },
      ]),
    }))
  },
}

const PAGES = { 'newest 100': '', 'newest 100 that failed': '?status=failed' }

async function hostWithLog(bench: Bench, receiver: Receiver, rows: number) {
  const database = await bench.database()
  const events = Array.from({ length: WEBHOOKS }, (_, n) => `${EVENT}.${n}`)
  const host = await startHost(bench, { database, events })
  const ids = await host.call(
    'register',
    events.map((event) => ({ url: receiver.at('/ok'), events: [event] })),
  )
  await receiver.call('reset')
  await host.call('publishInTurn', events, WEBHOOKS, WEBHOOKS)
  await receiver.call('reached', WEBHOOKS, 30)
  await host.call('stop')
  await makeDays(database)
  const each = rows / WEBHOOKS
  const at = `row.attempted_at - n * interval '${(DAYS * 24 * 3600) / each} seconds'`
  await multiply(database, {
    table: LOG,
    where: 'true',
    count: each,
    columns: {
      // A UUIDv7 of its moment; one attempt in a hundred has failed.
      id: `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7'
            || substr(md5(row.id::text || n), 1, 19))::uuid`,
      delivery_id: `md5(row.delivery_id::text || n)::uuid`,
      attempted_at: at,
      status: `case when n % 100 = 0 then 'failed' else row.status end`,
    },
  })
  await query(database, `vacuum analyze ${LOG}`)
  const { url } = await host.call('start', { database, events })
  return { url, webhook: ids[0] ?? '' }
}

const LOG = 'svc."__svc.webhooks.delivery_log"'

/** The partitions of the days that have passed, as the daily sweep would have left them. */
async function makeDays(database: string): Promise<void> {
  await query(
    database,
    `do $$
     declare day date;
     begin
       for day in select (now() at time zone 'utc')::date - n from generate_series(1, ${DAYS + 1}) as n loop
         execute format(
           'create table svc.%I partition of ${LOG} for values from (%L) to (%L)',
           '__svc.webhooks.delivery_log.' || day,
           svc."__svc.webhooks.first_id"(day), svc."__svc.webhooks.first_id"(day + 1));
       end loop;
     end $$`,
  )
}
