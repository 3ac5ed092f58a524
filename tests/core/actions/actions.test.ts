import { Type } from '@sinclair/typebox'
import t from 'tap'
import { methodsOf, operationFor } from '@svc/core/internal'
import { createActions } from '../../../packages/core/src/actions/actions.ts'
import { checkedInput } from '../../../packages/core/src/actions/validate-input.ts'
import { startHost } from '../support/host.ts'

declare module '@svc/core' {
  interface SvcActions {
    'test.add': (a: number, b: number) => Promise<number>
    'test.greet': (input: { name: string; loud?: boolean }) => Promise<string>
  }
}

t.test('an action is called by its name', async (t) => {
  const actions = createActions()
  actions.register('test.add', async (a, b) => a + b)
  t.equal(await actions.call('test.add', 1, 2), 3)
  t.strictSame(actions.names(), ['test.add'])
})

t.test('an unknown action rejects with a list of the known ones', async (t) => {
  const actions = createActions()
  const code = 'SVC_CORE_ACTION_UNKNOWN'
  await t.rejects(actions.call('test.add', 1, 2), {
    code,
    message: 'there is no action "test.add"; there are: none',
  })
  actions.register('test.greet', async ({ name }) => name)
  await t.rejects(actions.call('test.add', 1, 2), {
    code,
    message: 'there is no action "test.add"; there are: test.greet',
  })
})

t.test('an action name can be registered once, and only for an action', async (t) => {
  const actions = createActions()
  actions.register('test.add', async () => 0)
  t.throws(() => actions.register('test.add', async () => 1), {
    code: 'SVC_CORE_ACTION_TAKEN',
    message: 'the action "test.add" is registered already',
  })
  const register = actions.register.bind(actions) as (...args: unknown[]) => void
  t.throws(() => register('test.greet'), {
    code: 'SVC_CORE_INVALID_ACTION',
    message: 'actions.register takes a name and a function, got a string and undefined',
  })
  t.throws(() => register(5, () => {}), {
    code: 'SVC_CORE_INVALID_ACTION',
    message: /got 5 and a function/,
  })
})

const Greeting = Type.Object(
  { name: Type.String({ minLength: 1 }), loud: Type.Boolean({ default: true }) },
  { additionalProperties: false },
)

t.test(
  'the input of a defined action is checked against its schema, defaults filled in',
  async (t) => {
    const { app } = await startHost(t, {
      setUp: ({ svc }) => {
        const checked = checkedInput(Greeting)
        svc.actions.register('test.greet', async (input: unknown) => {
          const { name, loud } = checked(input)
          return loud ? `${name}!` : name
        })
      },
    })
    const { actions } = app.svc
    const input = { name: 'Ada' }
    t.equal(await actions.call('test.greet', input), 'Ada!')
    t.strictSame(input, { name: 'Ada' }, "the caller's object is left alone")
    t.equal(await actions.call('test.greet', { name: 'Ada', loud: false }), 'Ada')

    const code = 'SVC_INVALID_INPUT'
    const refused: [input: unknown, message: string][] = [
      [{ name: 5 }, 'input/name must be string'],
      [{}, "input must have required property 'name'"],
      [{ name: 'a', age: 1 }, 'input must NOT have additional properties ("age")'],
      [undefined, 'input must be object'],
      [{ name: () => {} }, 'input holds something that is no data, like a function'],
    ]
    for (const [given, message] of refused) {
      await t.rejects(actions.call('test.greet', given as never), {
        code,
        statusCode: 400,
        message,
      })
    }
  },
)

t.test('formats in the input of an action are checked', async (t) => {
  const check = checkedInput(Type.String({ format: 'email' }))
  t.equal(check('a@b.c'), 'a@b.c')
  t.throws(() => check('nobody'), { message: 'input must match format "email"' })

  const time = checkedInput(Type.String({ format: 'date-time' }))
  for (const text of [
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    // The greatest offset that Postgres reads.
    '2030-01-01T00:00:00+15:59',
  ]) {
    t.equal(time(text), text)
  }
  for (const text of [
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2016-12-31T23:59:60Z',
    '2030-01-01T00:00:00',
    '2030-01-01T00:00:00+16:00',
    '2030-01-01T00:00:00-2359',
    `2030-01-01T00:00:00.${'1'.repeat(120)}Z`,
  ]) {
    t.throws(() => time(text), { message: /format "date-time", .*offset.* years 1 to 9999/ }, text)
  }
})

t.test('the methods for many callers share one validator', async (t) => {
  let compiled = 0
  const input = Type.Object({ id: Type.String() })
  const { properties } = input
  Object.defineProperty(input, 'properties', {
    enumerable: true,
    get: () => {
      compiled++
      return properties
    },
  })
  const output = Type.String()
  const run = async (_: object, { id }: { id: string }) => id
  const operations = { get: operationFor<object>()({ input, text: 'id', output, run }) }
  const host = { forOurs: <Db>(db: Db) => db }
  t.equal(await methodsOf(host, 'svc.test', operations, {}).get('x'), 'x')
  const once = compiled
  t.ok(once > 0)
  t.equal(await methodsOf(host, 'svc.test', operations, {}).get({ id: 'y' }), 'y')
  t.equal(compiled, once)
})
