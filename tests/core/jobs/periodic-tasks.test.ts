import { mock } from 'node:test'
import t from 'tap'
import { PeriodicTasks } from '../../../packages/core/src/jobs/periodic-tasks.ts'
import { Unavailable } from '../../../packages/core/src/index.ts'
import { markCancelled } from '../../../packages/core/src/postgres/connection-errors.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

const silent = { error() {}, warn() {}, info() {} }

t.test('a task runs again and again, never twice at once, and survives its errors', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const errors: unknown[] = []
  const tasks = new PeriodicTasks({
    ...silent,
    error: (details) => void errors.push(details),
  })
  let running = 0
  let most = 0
  let runs = 0
  tasks.add({
    name: 'test',
    seconds: 10,
    async run() {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      if (++runs % 2) throw new Error(`run ${runs}`)
    },
  })
  /** Longer than any pause of this task; then whatever has begun comes to its end. */
  const pass = async () => {
    mock.timers.tick(11_001)
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
  }
  await pass()
  t.equal(runs, 0, 'not before it is started')
  tasks.start()
  for (let passed = 0; passed < 4; passed++) await pass()
  t.equal(runs, 4)
  await tasks.stop()
  await pass()
  t.equal(runs, 4)
  t.equal(most, 1)
  t.match(errors, [{ task: 'test', err: { message: 'run 1' } }])
})

t.test(
  'runs of all tasks begin after the call, and after the run that a timer has begun',
  async (t) => {
    const tasks = new PeriodicTasks(silent)
    const begun: (() => void)[] = []
    let running = 0
    let most = 0
    tasks.add({
      name: 'slow',
      seconds: 0.001,
      async run() {
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => {
          begun.push(resolve)
        })
        running--
        return 3_600_000
      },
    })
    tasks.start()
    await until(() => begun.length === 1)
    let hasRun = false
    const all = tasks.runAll().then(() => (hasRun = true))
    begun[0]!()
    await until(() => begun.length === 2)
    t.equal(hasRun, false, 'the run of the timer is not the one that was asked for')
    begun[1]!()
    await all
    t.equal(most, 1)
    await tasks.stop()
  },
)

t.test('stopping waits for the task that runs', async (t) => {
  const tasks = new PeriodicTasks(silent)
  let hasBegun = false
  let isDone = false
  tasks.start()
  tasks.add({
    name: 'slow',
    seconds: 0.001,
    async run() {
      hasBegun = true
      await new Promise((resolve) => {
        setTimeout(resolve, 20)
      })
      isDone = true
    },
  })
  await until(() => hasBegun)
  await tasks.stop()
  t.ok(isDone)
})

t.test('a process with worker.enabled false runs no periodic tasks', async (t) => {
  let runs = 0
  const task = async () => void runs++
  await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.every(0.001, 'never', task),
  })
  await startHost(t, {
    setUp: (_app, core) => core.every(0.001, 'often', async () => void (runs += 1000)),
  })
  await until(() => runs >= 1000)
  t.equal(runs % 1000, 0)
})

t.test('a task can say when it is to run next', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const tasks = new PeriodicTasks(silent)
  let runs = 0
  tasks.add({ name: 'test', seconds: 10, run: async () => (++runs === 1 ? 500 : undefined) })
  const pass = async (ms: number) => {
    mock.timers.tick(ms)
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
  }
  tasks.start()
  await pass(11_001)
  t.equal(runs, 1)
  await pass(499)
  t.equal(runs, 1)
  await pass(1)
  t.equal(runs, 2)
  await pass(8999)
  t.equal(runs, 2, 'then after its usual time again')
  await pass(2002)
  t.equal(runs, 3)
  await tasks.stop()
})

t.test('a task that fails three times in a row shows, until it works again', async (t) => {
  const lines: [string, object][] = []
  const tasks = new PeriodicTasks({
    ...silent,
    error: (details, message) => void lines.push([message, details]),
    info: (details, message) => void lines.push([message, details]),
  })
  let error: Error | undefined = new Error('no')
  tasks.add({
    name: 'sweep',
    seconds: 3600,
    async run() {
      if (error) throw error
    },
  })
  tasks.add({ name: 'other', seconds: 3600, run: async () => {} })
  t.strictSame(tasks.health(), { ok: true, failing: [] })
  for (let failures = 1; failures <= 3; failures++) {
    await tasks.runAll()
    t.match(tasks.health(), {
      ok: failures < 3,
      failing: [{ name: 'sweep', failures, error: 'no' }],
    })
  }
  const since = `${tasks.health().failing[0]?.since}`
  t.equal(new Date(since).toISOString(), since)
  t.same(tasks.failures(), [
    ['sweep', 3],
    ['other', 0],
  ])
  error = undefined
  await tasks.runAll()
  t.strictSame(tasks.health(), { ok: true, failing: [] })
  const failed = 'a periodic task failed; it is tried again'
  t.same(
    lines.map(([message]) => message),
    [failed, failed, failed, 'a periodic task works again'],
  )
  t.match(lines[2]?.[1], { task: 'sweep', failures: 3, since, err: { message: 'no' } })
  t.match(lines[3]?.[1], { task: 'sweep', failures: 3, since })
})

t.test('a run without a connection, or while the server only reads, is no failure', async (t) => {
  const lines: string[] = []
  const tasks = new PeriodicTasks({
    error: (_, message) => void lines.push(message),
    warn: (_, message) => void lines.push(message),
    info: (_, message) => void lines.push(message),
  })
  const refused = new Unavailable({ cause: Object.assign(new Error('no'), { code: '25006' }) })
  const errors: unknown[] = [
    new Error('Connection terminated: no answer within 3 s'),
    { code: '57P01' },
    { code: '25006', message: 'a:5432 only reads' },
    refused,
    // A disk that is full is found by writing alone, and a session may be ended for its long work.
    { code: '53100' },
    { code: '25006' },
    { code: '25P04' },
    markCancelled(new Error('Query read timeout')),
  ]
  const run = async () => {
    if (errors.length > 0) throw errors.shift()
  }
  tasks.add({ name: 'sweep', seconds: 3600, run })
  const seen: unknown[] = []
  while (errors.length > 0) {
    await tasks.runAll()
    const { ok, failing } = tasks.health()
    seen.push([failing[0]?.failures ?? 0, ok])
  }
  t.same(seen, [
    [0, true],
    [0, true],
    [0, true],
    [0, true],
    [1, true],
    [1, true],
    [2, true],
    [3, false],
  ])
  await tasks.runAll()
  t.same(tasks.health(), { ok: true, failing: [] })
  const [waits, goesOn] = ['periodic tasks wait for the database', 'periodic tasks go on']
  const failed = 'a periodic task failed; it is tried again'
  t.same(
    lines,
    [waits, goesOn, failed, waits, goesOn, failed, failed, 'a periodic task works again'],
    'an outage has one line',
  )
})

t.test('tasks run soon after the database is back, however long it was away', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const tasks = new PeriodicTasks(silent)
  let isAway = true
  let runs: string[] = []
  for (const name of ['first', 'second', 'third']) {
    const run = async () => {
      runs.push(name)
      if (isAway) throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
    }
    tasks.add({ name, seconds: 3600, run })
  }
  const runsWithin = async (ms: number) => {
    runs = []
    for (let passed = 0; passed < ms; passed += 500) {
      mock.timers.tick(500)
      for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
    }
    return runs
  }
  tasks.start()
  t.same(
    (await runsWithin(600_000)).toSorted().filter((one, n, all) => one !== all[n - 1]),
    ['first', 'second', 'third'],
  )
  const whileAway = await runsWithin(60_000)
  t.ok(whileAway.length >= 9 && whileAway.length <= 14, 'one of them asks each five seconds')
  t.equal(new Set(whileAway).size, 1)
  isAway = false
  t.same((await runsWithin(11_000)).toSorted(), ['first', 'second', 'third'])
  t.same(await runsWithin(3_000_000), [], 'then at their usual times')
  await tasks.stop()
})

t.test('tasks that fail run soon after one of them works again', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const tasks = new PeriodicTasks(silent)
  let isFull = true
  for (const [name, seconds] of Object.entries({ often: 20, hourly: 3600 })) {
    const run = async () => {
      if (isFull) throw Object.assign(new Error('no'), { code: '53100' })
    }
    tasks.add({ name, seconds, run })
  }
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      mock.timers.tick(500)
      for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
    }
  }
  tasks.start()
  // The hourly one is tried again after 5, 10, 20 … 640 s.
  await pass(800_000)
  t.equal(tasks.health().failing.length, 2)
  isFull = false
  await pass(30_000)
  t.strictSame(tasks.health(), { ok: true, failing: [] })
  await tasks.stop()
})

t.test('a task that fails is tried again soon, and then after longer and longer', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const tasks = new PeriodicTasks(silent)
  let runs = 0
  const run = async () => {
    runs++
    throw new Error('no')
  }
  tasks.add({ name: 'hourly', seconds: 3600, run })
  const runsWithin = async (ms: number) => {
    runs = 0
    mock.timers.tick(ms)
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
    return runs
  }
  tasks.start()
  t.equal(await runsWithin(60_000), 1)
  for (const pause of [5000, 10_000, 20_000, 40_000]) {
    t.equal(await runsWithin(pause * 0.9 - 1), 0)
    t.equal(await runsWithin(pause * 0.2 + 2), 1)
  }
  await tasks.stop()
})

t.test('stopping ends a task after the portion that it is at', async (t) => {
  const tasks = new PeriodicTasks(silent)
  let portions = 0
  tasks.add({
    name: 'sweep',
    seconds: 0.001,
    async run(stopping) {
      while (!stopping.aborted) {
        portions++
        await new Promise(setImmediate)
      }
    },
  })
  tasks.start()
  await until(() => portions > 3)
  await tasks.stop()
  const then = portions
  await new Promise(setImmediate)
  t.equal(portions, then)
})

t.test('stopping waits ten seconds for a task that does not end', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const tasks = new PeriodicTasks(silent)
  tasks.add({ name: 'stuck', seconds: 10, run: () => new Promise<void>(() => {}) })
  void tasks.runAll()
  let isStopped = false
  const stopped = tasks.stop().then(() => (isStopped = true))
  mock.timers.tick(9999)
  await new Promise(setImmediate)
  t.equal(isStopped, false)
  mock.timers.tick(1)
  await stopped
})
