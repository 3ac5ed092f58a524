import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { startHost, startReceiver, type Receiver } from '../delivery/stage.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { multiply } from '../postgres/multiply.ts'

const WANTED = 'order.created'
const OTHER = 'order.other'
const MATCHING = 10
const CALLERS = 1000

export const growthRegistrations: Benchmark = {
  name: 'growth-registrations',
  title: 'An event that 10 of 100 000 webhooks want, against 10 of 10.',
  limitSeconds: 600,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const others = bench.size(100_000, 2000) - MATCHING
    const events = bench.size(2000, 100)
    const contenders = []
    for (const more of [0, others]) {
      const host = await hostAmong(bench, receiver, more)
      contenders.push({
        name: `${MATCHING} of ${MATCHING + more}`,
        async measure() {
          await receiver.call('reset')
          const [{ startedAt }, { lastAt }] = await Promise.all([
            host.call('publish', WANTED, events, CALLERS),
            receiver.call('reached', events * MATCHING, 60),
          ])
          await receiver.call('reset')
          await Promise.all([
            host.call('publishAtRate', [WANTED], 50, 2),
            receiver.call('reached', 100 * MATCHING, 60),
          ])
          const { p50 } = await receiver.call('latency')
          return { rate: (events * MATCHING) / ((lastAt - startedAt) / 1000), p50 }
        },
      })
    }
    const measured = await interleave(contenders, {
      warmUps: 1,
      rounds: bench.rounds,
      tell: bench.tell,
    })
    const [few, lots] = contenders.map(({ name }) => name)
    if (!few || !lots) return []
    const rows = (figure: string) => [
      { name: few, samples: samplesOf(measured, few, figure) },
      { name: lots, samples: samplesOf(measured, lots, figure), against: few },
    ]
    return [
      {
        title: 'Publish to received as registrations grow',
        unit: 'deliveries per second',
        better: 'more',
        settings: { events, payload: '500 bytes' },
        rows: rows('rate'),
      },
      {
        title: 'Publish to received as registrations grow, 50 events per second, p50',
        unit: 'ms',
        better: 'less',
        settings: { payload: '500 bytes' },
        rows: rows('p50'),
      },
    ]
  },
}

async function hostAmong(bench: Bench, receiver: Receiver, others: number) {
  const database = await bench.database()
  const host = await startHost(bench, { database, events: [WANTED, OTHER] })
  await host.call(
    'register',
    Array.from({ length: MATCHING }, (_, n) => ({ url: receiver.at(`/${n}`), events: [WANTED] })),
  )
  if (others === 0) return host
  const [other] = await host.call('register', [{ url: receiver.at('/other'), events: [OTHER] }])
  await multiply(database, {
    table: 'svc."__svc.webhooks.registrations"',
    where: `row.id = '${other}'`,
    count: others - 1,
    columns: { id: `md5('webhook ' || n)::uuid` },
  })
  await multiply(database, {
    table: 'svc."__svc.targets"',
    where: `row.target = '${other}'`,
    count: others - 1,
    columns: { target: `md5('webhook ' || n)::uuid` },
  })
  return host
}
