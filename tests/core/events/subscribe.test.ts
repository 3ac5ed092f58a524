import t from 'tap'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

t.test('a handler that recovers is called until it does', async (t) => {
  const attempts: number[] = []
  const { app, log } = await startHost(t, {
    setUp: ({ svc }) =>
      svc.events.subscribe('a', async (_payload, { attempt }) => {
        attempts.push(attempt)
        if (attempt < 3) throw new Error('not yet')
      }),
  })
  await app.svc.events.publish('a', 1)
  await until(() => attempts.length === 3)
  await until(async () => {
    const { rowCount } = await app.svc.database.query('select from svc_jobs.job')
    return rowCount === 0
  })
  t.strictSame(attempts, [1, 2, 3])
  t.equal(log.filter(({ msg }) => msg === 'subscription handler failed').length, 2)
})

t.test('an attempt that takes too long is aborted and fails', async (t) => {
  const reasons: string[] = []
  const { app, core } = await startHost(t, {
    core: { worker: { maxAttempts: 1 } },
    setUp: ({ svc }) =>
      svc.events.subscribe(
        'a',
        (_payload, { signal }) => {
          signal.addEventListener('abort', () => reasons.push((signal.reason as Error).message))
          return new Promise(() => {})
        },
        { timeoutSeconds: 1 },
      ),
  })
  await app.svc.events.publish('a', 1)
  const letters = await until(
    () => core.queues.deadLetters(core.db, '__svc.sub/a', {}),
    ({ length }) => length > 0,
  )
  t.match(letters, [{ output: { message: 'took longer than timeoutSeconds (1)' } }])
  t.strictSame(reasons, ['took longer than timeoutSeconds (1)'])
})

t.test('the longest time that is accepted is one that the queue takes', async (t) => {
  const { core } = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', () => {}, { timeoutSeconds: 86_385 }),
  })
  t.ok(await core.svc.jobs.getQueue('__svc.sub/a'))
})

t.test('a subscription has as many attempts in flight as its concurrency', async (t) => {
  const { app } = await startHost(t)
  const inFlight: (() => void)[] = []
  let most = 0
  await app.svc.events.subscribe(
    'work',
    () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      inFlight.push(resolve)
      most = Math.max(most, inFlight.length)
      return promise
    },
    { concurrency: 4 },
  )
  await app.ready()
  await Promise.all(Array.from({ length: 12 }, (_, n) => app.svc.events.publish('work', n)))

  await until(() => inFlight.length === 4)
  for (let ended = 0; ended < 12; ended++) {
    await until(() => inFlight.length > 0)
    inFlight.shift()?.()
  }
  t.equal(most, 4)
})

t.test('a subscription does not wait for another one that is stuck', async (t) => {
  const got: unknown[] = []
  const stuck = Promise.withResolvers<void>()
  const { app } = await startHost(t, {
    async setUp({ svc }) {
      await svc.events.subscribe('a', () => stuck.promise, {
        subscription: 'stuck',
        concurrency: 1,
      })
      await svc.events.subscribe('a', (payload) => void got.push(payload), {
        subscription: 'quick',
      })
    },
  })
  for (let i = 0; i < 20; i++) await app.svc.events.publish('a', i)
  await until(() => got.length === 20)
  stuck.resolve()
  t.equal(got.length, 20)
})

t.test(
  'with a concurrency of one, retries are not kept waiting by fresh events, nor those by retries',
  async (t) => {
    const got: string[] = []
    let isDone = false
    const { app } = await startHost(t, {
      core: { worker: { maxAttempts: 1000 } },
      setUp: ({ svc }) =>
        svc.events.subscribe(
          'a',
          async (payload: string, { attempt }) => {
            await new Promise(setImmediate)
            if (payload === 'failing' && attempt < 5) throw new Error('again')
            got.push(payload)
          },
          { concurrency: 1 },
        ),
    })
    const fresh = (async () => {
      for (; !isDone; await new Promise(setImmediate)) await app.svc.events.publish('a', 'fresh')
    })()
    await app.svc.events.publish('a', 'failing')
    await until(() => got.includes('failing') && got.includes('fresh'))
    isDone = true
    await fresh
    t.ok(got.includes('failing'))
  },
)

const refused: [title: string, args: unknown[], code: string, message: RegExp][] = [
  [
    'no handler',
    ['a', 'text'],
    'INVALID_SUBSCRIPTION',
    /the handler of "a" must be a function, got a string/,
  ],
  ['a name that is none', ['a b', () => {}], 'INVALID_EVENT_NAME', /got "a b"/],
  [
    'an unknown option',
    ['a', () => {}, { name: 'x' }],
    'INVALID_OPTION',
    /no option "name"; there are: subscription, idempotent, timeoutSeconds, concurrency/,
  ],
  [
    'a concurrency of none',
    ['a', () => {}, { concurrency: 0 }],
    'INVALID_OPTION',
    /"concurrency" must be an integer from 1 to 10000, got 0/,
  ],
  [
    'a time that no job can have',
    ['a', () => {}, { timeoutSeconds: 86_386 }],
    'INVALID_OPTION',
    /"timeoutSeconds" must be an integer from 1 to 86385 \(seconds\), got 86386/,
  ],
  [
    'options that are none',
    ['a', () => {}, null],
    'INVALID_OPTION',
    /the options must be an object, got null/,
  ],
  [
    'the name of a dead-letter queue',
    ['a.dlq', () => {}],
    'INVALID_SUBSCRIPTION',
    /that does not end in ".dlq" .*, got "a.dlq": give it one with the option "subscription"/,
  ],
  [
    "a name that is a plugin's of ours",
    ['a', () => {}, { subscription: '__svc.webhooks' }],
    'INVALID_SUBSCRIPTION',
    /or begin with "__svc.", got "__svc.webhooks"/,
  ],
  [
    'a second one of that name',
    ['taken', () => {}],
    'SUBSCRIPTION_TAKEN',
    /with the option "subscription"/,
  ],
]
t.test('a wrong subscription is refused at once, before its promise is awaited', async (t) => {
  await startHost(t, {
    async setUp({ svc }) {
      await svc.events.subscribe('taken', () => {})
      const subscribe = svc.events.subscribe.bind(svc.events) as (...args: unknown[]) => unknown
      for (const [title, args, code, message] of refused) {
        t.throws(() => subscribe(...args), { code: `SVC_CORE_${code}`, message }, title)
      }
    },
  })
})

t.test(
  'a process with worker.enabled false declares its subscriptions and calls no handler',
  async (t) => {
    const got: string[] = []
    const idle = await startHost(t, {
      core: { worker: { enabled: false } },
      setUp: ({ svc }) => svc.events.subscribe('a', () => void got.push('idle')),
    })
    await idle.app.svc.events.publish('a', 1)
    await startHost(t, {
      database: idle.database,
      setUp: ({ svc }) => svc.events.subscribe('a', () => void got.push('working')),
    })
    await until(() => got.length === 1)
    t.strictSame(got, ['working'])
  },
)
