import { mock } from 'node:test'
import t from 'tap'
import { PeriodicTasks } from '../../../packages/core/src/jobs/periodic-tasks.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

t.test('a task runs again and again, never twice at once, and survives its errors', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const errors: unknown[] = []
  const tasks = new PeriodicTasks({ error: (details) => void errors.push(details) })
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
    const tasks = new PeriodicTasks({ error() {} })
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
  const tasks = new PeriodicTasks({ error() {} })
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
  const tasks = new PeriodicTasks({ error() {} })
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
