import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { waitingDatabase } from '../growth/waiting.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startHost, startReceiver } from './stage.ts'
import { rateOf } from './under-way.ts'

const WORKERS = [1, 2, 4]
const WEBHOOKS = 100

export const deliveryWorkers: Benchmark = {
  name: 'delivery-workers',
  title: 'One, two and four processes that deliver from one Postgres.',
  limitSeconds: 600,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const rounds = Math.min(bench.rounds, 5)
    const [after, count] = [bench.size(4000, 200), bench.size(20_000, 1000)]
    const warmUps = bench.quick ? 0 : 1
    // All turns take from it, and each leaves what it had fetched.
    const jobs =
      Math.ceil(((after + count) * 1.3 * WORKERS.length * (rounds + warmUps)) / 100) * 100
    const database = await waitingDatabase(bench, receiver, { name: '', webhooks: WEBHOOKS, jobs })
    const events = Array.from({ length: WEBHOOKS }, (_, n) => `event.${n}`)
    const measured = await interleave(
      WORKERS.map((workers) => ({
        name: processes(workers),
        async measure() {
          const hosts = await Promise.all(
            Array.from({ length: workers }, () => startHost(bench, { database, events })),
          )
          const rate = await rateOf(receiver, { after, count })
          await Promise.all(hosts.map((host) => host.stop()))
          return { rate }
        },
      })),
      { warmUps, rounds, tell: bench.tell },
    )
    return [
      {
        title: 'A backlog worked off by several processes',
        unit: 'deliveries per second',
        better: 'more',
        settings: { webhooks: WEBHOOKS, payload: '500 bytes' },
        rows: WORKERS.map((workers) => ({
          name: processes(workers),
          samples: samplesOf(measured, processes(workers), 'rate'),
          ...(workers === 1 ? {} : { against: processes(1) }),
        })),
      },
    ]
  },
}

const processes = (workers: number): string =>
  workers === 1 ? '1 process' : `${workers} processes`
