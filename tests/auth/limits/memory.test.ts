// In a process of its own: it measures the heap.
import { randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { Allowances } from '../../../packages/auth/src/limits/allowances.ts'
import { Limiter } from '../../../packages/auth/src/limits/limiter.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const KEYS = 100_000

function heapUsed(): number {
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

/** A limiter whose Postgres allots all, with fractions as its clock has them. */
function startLimiter() {
  const clock = { now: 1000 }
  const due: (() => void)[] = []
  const limiter = new Limiter({
    now: () => clock.now,
    schedule: (run) => due.push(run),
    newHolder: () => 'holder',
    send: ({ places, demands }, done) =>
      due.push(() =>
        done({
          passed: demands.map(({ needs }) => needs.map(({ times }) => times)),
          places: places.map(({ ahead }) => {
            const stamp = Date.UTC(2030, 0, 1) + clock.now + 0.25
            return { ahead, stamp, used: ahead + 1, validMs: 299_999.5, retryMs: 3_599_999.5 }
          }),
        }),
      ),
  })
  const settle = () => {
    for (let run = due.shift(); run; run = due.shift()) run()
  }
  return { clock, limiter, settle }
}

t.test('the limit of a key takes at most 300 bytes while the key is used', (t) => {
  // As pg makes them: a text that is put together changes its size when it is used.
  const ids = Array.from({ length: KEYS }, () => Buffer.from(randomUUID()).toString('latin1'))
  let used: ReturnType<typeof useKeys> | null = useKeys(ids)
  const withThem = heapUsed()
  t.equal(used.limiter.size, KEYS)
  used = null
  const bytes = (withThem - heapUsed()) / KEYS
  t.ok(bytes > 200 && bytes <= 300, `${bytes} bytes`)
  t.end()
})

function useKeys(ids: readonly string[]) {
  const { clock, limiter, settle } = startLimiter()
  const lists = ids.map((subject) =>
    limiter.listOf([{ subject, period: 3600, limit: 1_000_000 }], null)!,
  )
  // Within a few 128ths of the window.
  for (let use = 0; use < 12; use++) {
    for (const [n, list] of lists.entries()) {
      if (limiter.take(list, 1) === null) limiter.wait(list, 1, () => {})
      if (n % 64 === 63) settle()
    }
    settle()
    clock.now += 12_000
  }
  return { limiter, lists }
}

t.test('the clock of a host has fractions, that of its limits has none', (t) => {
  const none = { warn() {}, info() {} } as never
  const parts = { db: none, tenantLimits: [], tenantPeriods: [], log: none }
  t.equal(new Allowances({ ...parts, now: () => 1000.75 }).now(), 1000)
  t.ok(Number.isInteger(new Allowances(parts).now()))
  t.end()
})
