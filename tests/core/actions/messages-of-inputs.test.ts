import { Type } from '@sinclair/typebox'
import t from 'tap'
import { Search, Tenant, TenantFilter } from '@svc/core/internal'
import { checkedInput } from '../../../packages/core/src/actions/validate-input.ts'

t.test('an error of a name in an object says which name it is', async (t) => {
  const headers = Type.Record(Type.String(), Type.String(), {
    propertyNames: { minLength: 1, maxLength: 3 },
    maxProperties: 2,
  })
  const check = checkedInput(Type.Object({ headers }))
  t.same(check({ headers: { abc: '' } }), { headers: { abc: '' } })
  const rows: [headers: object, message: string][] = [
    [{ abcd: '' }, 'input/headers: its name "abcd" must NOT have more than 3 characters'],
    [{ '': '' }, 'input/headers: its name "" must NOT have fewer than 1 characters'],
    [{ a: '', b: '', c: '' }, 'input/headers must NOT have more than 2 properties'],
    [{ a: 1 }, 'input/headers/a must be string'],
  ]
  for (const [headers, message] of rows) t.throws(() => check({ headers }), { message })
})

t.test('an error of a pattern says in words what is allowed', async (t) => {
  const check = checkedInput(
    Type.Partial(
      Type.Object({
        tenant: Tenant,
        of: TenantFilter,
        search: Search,
        other: Type.String({ pattern: '^a$' }),
      }),
    ),
  )
  const tenant = '1 to 64 letters, digits, "_", ".", ":" or "-"'
  const rows: [input: object, message: string][] = [
    [{ tenant: 'a b' }, `input/tenant must be ${tenant}`],
    [{ tenant: '' }, `input/tenant must be ${tenant}`],
    [{ of: 'a b' }, `input/of must be ${tenant}, or empty`],
    [
      { search: '!' },
      'input/search must be text with a letter or a digit, without NUL and half of a surrogate pair',
    ],
    [{ other: 'b' }, 'input/other must match pattern "^a$"'],
  ]
  for (const [input, message] of rows) t.throws(() => check(input), { message })
})

t.test(
  'where an input may be a text or an object, the error of a wrong object names its wrong field',
  async (t) => {
    const check = checkedInput(
      Type.Union([
        Type.String({ minLength: 2 }),
        Type.Object({ id: Type.String() }, { additionalProperties: false }),
      ]),
    )
    t.same(check('ab'), 'ab')
    t.same(check({ id: 'ab' }), { id: 'ab' })
    const rows: [input: unknown, message: string][] = [
      ['a', 'input must NOT have fewer than 2 characters'],
      [{}, "input must have required property 'id'"],
      [{ id: 'a', limit: 1 }, 'input must NOT have additional properties ("limit")'],
      [{ id: 1 }, 'input/id must be string'],
      [5, 'input must be string or object'],
      [undefined, 'input must be string or object'],
    ]
    for (const [input, message] of rows) t.throws(() => check(input), { message })
  },
)

t.test('an error of a type names each type once', async (t) => {
  const either = checkedInput(
    Type.Union([
      Type.String({ format: 'uuid' }),
      Type.String({ format: 'date-time' }),
      Type.Unsafe({ type: ['array', 'null'] }),
    ]),
  )
  t.throws(() => either(5), { message: 'input must be string or array or null' })
  const one = checkedInput(Type.Unsafe({ type: ['object', 'null'] }))
  t.throws(() => one(5), { message: 'input must be object,null' })
})

t.test('an error of constants names all that are possible', async (t) => {
  const mode = checkedInput(
    Type.Union([Type.Literal('off'), Type.Literal('on'), Type.Integer({ minimum: 1 })]),
  )
  t.equal(mode('off'), 'off')
  const rows: [input: unknown, message: string][] = [
    ['x', 'input must be "off" or "on" or integer'],
    [0, 'input must be >= 1'],
    [null, 'input must be string or integer'],
  ]
  for (const [input, message] of rows) t.throws(() => mode(input), { message })
  const time = checkedInput(Type.Union([Type.Literal('now'), Type.String({ format: 'uuid' })]))
  t.throws(() => time('x'), { message: 'input must be "now" or match format "uuid"' })
  const single = checkedInput(Type.Object({ kind: Type.Literal('total') }))
  t.throws(() => single({ kind: 'day' }), { message: 'input/kind must be "total"' })
})
