import t, { type Test } from 'tap'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

const UNKNOWN_ID = '0190a6b0-0000-7000-8000-000000000000'

/** A host whose handler of the event `a` throws as long as `isBroken`. */
async function startBroken(t: Test) {
  const calls: { payload: unknown; attempt: number }[] = []
  const handler = { isBroken: true }
  const { app } = await startHost(t, {
    core: { worker: { maxAttempts: 2 } },
    setUp: ({ svc }) =>
      svc.events.subscribe(
        'a',
        (payload, { attempt }) => {
          calls.push({ payload, attempt })
          if (handler.isBroken) throw new Error(`no ${payload}`)
        },
        { subscription: 'mailing' },
      ),
  })
  const { events } = app.svc
  const dead = (count: number) =>
    until(
      () => events.deadLetters('mailing'),
      ({ length }) => length === count,
    )
  return { events, handler, calls, dead }
}

t.test('whatever a handler throws is kept as the reason', async (t) => {
  const cycle: Record<string, unknown> = {}
  cycle['message'] = cycle
  const thrown: [unknown, RegExp][] = [
    [new Error('an ordinary one'), /^an ordinary one$/],
    [new SyntaxError('Unexpected token \0'), /^Unexpected token \uFFFD$/],
    [new Error('half \ud83d'), /^half \uFFFD$/],
    ['a text', /^a text$/],
    [null, /^null$/],
    [undefined, /^undefined$/],
    [{ message: 5n }, /object/],
    [cycle, /object/],
    [Object.create(null), /has no text/],
    [Symbol('mine'), /Symbol\(mine\)/],
    [new Error('x'.repeat(1_000_000)), /^x{10000}$/],
  ]
  const { app } = await startHost(t, {
    core: { worker: { maxAttempts: 1 } },
    setUp: ({ svc }) =>
      svc.events.subscribe('a', (place) => {
        throw thrown[place as number]?.[0]
      }),
  })
  const { events } = app.svc
  for (const place of thrown.keys()) await events.publish('a', place)
  const letters = await until(
    () => events.deadLetters('a'),
    ({ length }) => length === thrown.length,
  )
  for (const { payload, error } of letters) t.match(error, thrown[payload as number]?.[1])
})

t.test('a dead letter has the event that was not handled, and the reason', async (t) => {
  const { events, dead } = await startBroken(t)
  await events.publish('a', 'one', { id: 'x', tenant: 'acme' })
  const letters = await dead(1)
  t.match(letters, [
    {
      id: /^[0-9a-f-]{36}$/,
      event: 'a',
      eventId: 'x',
      tenant: 'acme',
      payload: 'one',
      publishedAt: Date,
      error: 'no one',
      attempts: 2,
      diedAt: Date,
    },
  ])
})

t.test('dead letters are listed newest first, in pages', async (t) => {
  const { events, dead } = await startBroken(t)
  for (const [index, payload] of ['one', 'two', 'three'].entries()) {
    await events.publish('a', payload)
    await dead(index + 1)
  }
  const first = await events.deadLetters('mailing', { limit: 2 })
  t.strictSame(
    first.map(({ payload }) => payload),
    ['three', 'two'],
  )
  const rest = await events.deadLetters('mailing', { limit: 2, after: first[1]!.id })
  t.strictSame(
    rest.map(({ payload }) => payload),
    ['one'],
  )
})

t.test(
  'redrive puts all dead letters back to work, and their attempts are counted on',
  async (t) => {
    const { events, handler, calls, dead } = await startBroken(t)
    await events.publish('a', 'one')
    await events.publish('a', 'two')
    await dead(2)
    t.strictSame(await events.redrive('mailing'), { redriven: 2 })
    const again = await dead(2)
    t.strictSame(
      again.map(({ attempts }) => attempts),
      [4, 4],
      'they have died again',
    )

    handler.isBroken = false
    t.strictSame(await events.redrive('mailing'), { redriven: 2 })
    await until(() => calls.length === 10)
    t.strictSame(
      calls.slice(8).map(({ attempt }) => attempt),
      [5, 5],
    )
    t.strictSame(await events.deadLetters('mailing'), [])
  },
)

t.test('a redrive with ids takes those dead letters alone', async (t) => {
  const { events, handler, calls, dead } = await startBroken(t)
  await events.publish('a', 'one')
  await events.publish('a', 'two')
  const letters = await dead(2)
  handler.isBroken = false
  const wanted = letters.find(({ payload }) => payload === 'two')!.id
  t.strictSame(await events.redrive('mailing', { ids: [wanted, UNKNOWN_ID] }), { redriven: 1 })
  await until(() => calls.length === 5)
  t.match(calls[4], { payload: 'two', attempt: 3 })
  t.match(await events.deadLetters('mailing'), [{ payload: 'one' }])
  t.strictSame(await events.redrive('mailing', { ids: [] }), { redriven: 0 })
})

t.test('two redrives at once share the dead letters', async (t) => {
  const { events, handler, calls, dead } = await startBroken(t)
  for (let n = 0; n < 5; n++) await events.publish('a', n)
  await dead(5)
  handler.isBroken = false
  const results = await Promise.all([events.redrive('mailing'), events.redrive('mailing')])
  t.equal(results[0].redriven + results[1].redriven, 5)
  await until(() => calls.length === 15)
  t.strictSame(await events.deadLetters('mailing'), [])
})

t.test('a wrong subscription, id or limit is refused by name', async (t) => {
  const { events } = await startBroken(t)
  const unknown = { code: 'SVC_CORE_INVALID_SUBSCRIPTION', message: /no subscription "mailings"/ }
  await t.rejects(events.deadLetters('mailings'), unknown)
  await t.rejects(events.redrive('mailings'), unknown)
  await t.rejects(events.redrive('__svc.webhooks.deliver'), {
    code: 'SVC_CORE_INVALID_SUBSCRIPTION',
  })
  const invalid = (message: RegExp) => ({ code: 'SVC_CORE_INVALID_OPTION', message })
  await t.rejects(events.deadLetters('mailing', { limit: 0 }), invalid(/"limit".*1 to 1000/))
  await t.rejects(events.deadLetters('mailing', { after: 'x' }), invalid(/"after".*UUID/))
  await t.rejects(events.redrive('mailing', { ids: ['x'] }), invalid(/"ids".*\[0\] is "x"/))
})

t.test(
  'the dead letters of a subscription that was ended stay, and do not come back',
  async (t) => {
    const { events, dead } = await startBroken(t)
    await events.publish('a', 'one')
    await dead(1)
    await events.unsubscribe('mailing')
    t.match(await events.deadLetters('mailing'), [{ payload: 'one' }])
    await t.rejects(events.redrive('mailing'), { code: 'SVC_CORE_INVALID_SUBSCRIPTION' })
  },
)

t.test('dead letters are redriven by pg-boss', async (t) => {
  const attempts: number[] = []
  let isBroken = true
  const { app, core } = await startHost(t, {
    core: { worker: { maxAttempts: 1 } },
    setUp: ({ svc }) =>
      svc.events.subscribe('a', (_payload, { attempt }) => {
        attempts.push(attempt)
        if (isBroken) throw new Error('not yet')
      }),
  })
  await app.svc.events.publish('a', 1)
  await until(
    () => core.queues.deadLetters(core.db, '__svc.sub/a', {}),
    ({ length }) => length === 1,
  )
  isBroken = false
  t.equal(await app.svc.jobs.redrive('__svc.sub/a.dlq'), 1)
  await until(() => attempts.length === 2)
  t.strictSame(await core.queues.deadLetters(core.db, '__svc.sub/a', {}), [])
})
