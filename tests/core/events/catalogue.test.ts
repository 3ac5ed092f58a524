import { Type } from '@sinclair/typebox'
import { defineEvents } from '@svc/core'
import t from 'tap'
import { Catalogue } from '../../../packages/core/src/events/catalogue.ts'

const logged: unknown[][] = []
const log = { warn: (...args: unknown[]) => void logged.push(args) }
const catalogueOf = (events: object, mode: 'reject' | 'warn' | 'off' = 'reject') =>
  new Catalogue(events as never, mode, log)

const Order = Type.Object(
  {
    id: Type.Integer(),
    at: Type.Optional(Type.String({ format: 'date-time' })),
    lines: Type.Array(Type.Object({ sku: Type.String() })),
  },
  { additionalProperties: false },
)
const order = { id: 7, lines: [{ sku: 'book' }] }

t.test('a payload that matches its schema passes, and so does one without a schema', async (t) => {
  const catalogue = catalogueOf({ 'order.created': { payload: Order } })
  const given = JSON.stringify({ ...order, at: new Date(), undefined })
  t.doesNotThrow(() => catalogue.check('order.created', given))
  t.doesNotThrow(() => catalogue.check('order.other', '5'))
})

t.test('a format that is not known is told in the log, and not checked', async (t) => {
  const payload = Type.Object({ code: Type.String({ format: 'color' }) })
  const catalogue = catalogueOf({ 'order.created': { payload } })
  t.match(logged.splice(0), [
    [
      { event: 'order.created', problem: /unknown format "color" ignored/ },
      'a part of the schema of an event is ignored',
    ],
  ])
  t.doesNotThrow(() => catalogue.check('order.created', '{"code":"no color"}'))
})

t.test('a payload that does not match is refused, and the path is named', async (t) => {
  const catalogue = catalogueOf({ 'order.created': { payload: Order } })
  const refused: [unknown, RegExp][] = [
    [{ ...order, id: '7' }, /"order\.created".*: payload\/id must be integer/],
    [
      { ...order, lines: [{ sku: 'a' }, {}] },
      /payload\/lines\/1 must have required property 'sku'/,
    ],
    [{ ...order, at: 'yesterday' }, /payload\/at must match format "date-time"/],
    [{ ...order, more: 1 }, /payload must NOT have additional properties \("more"\)/],
    [null, /payload must be object/],
  ]
  for (const [payload, message] of refused) {
    t.throws(() => catalogue.check('order.created', JSON.stringify(payload)), {
      code: 'SVC_INVALID_PAYLOAD',
      statusCode: 500,
      message,
    })
  }
})

t.test('with "warn" it is logged, and with "off" nothing is checked', async (t) => {
  catalogueOf({ 'order.created': { payload: Order } }, 'warn').check('order.created', '{}')
  t.match(logged.splice(0), [[{ event: 'order.created', problem: /payload/ }, /does not match/]])
  catalogueOf({ 'order.created': { payload: Order } }, 'off').check('order.created', '{}')
  t.same(logged, [])
})

t.test('a schema may be plain JSON Schema, of draft 7 or of 2020-12', async (t) => {
  const seven = {
    type: 'object',
    properties: { a: { type: 'array', items: [{ type: 'integer' }] } },
  }
  const later = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: { n: { type: 'integer' } },
    type: 'array',
    prefixItems: [{ $ref: '#/$defs/n' }],
  }
  const catalogue = catalogueOf({ seven: { payload: seven }, later: { payload: later } })
  catalogue.check('seven', '{"a":[1]}')
  catalogue.check('later', '[1]')
  t.throws(() => catalogue.check('seven', '{"a":["x"]}'), { message: /payload\/a\/0/ })
  t.throws(() => catalogue.check('later', '["x"]'), { message: /payload\/0/ })
})

t.test('two events may have schemas of one id', async (t) => {
  const Named = (type: string) => ({ $id: 'https://schemas.example/a', type })
  const catalogue = catalogueOf({
    a: { payload: Named('string') },
    b: { payload: Named('number') },
  })
  t.doesNotThrow(() => catalogue.check('a', '"x"'))
  t.doesNotThrow(() => catalogue.check('b', '1'))
})

t.test('an entry of the catalogue shows what was defined', async (t) => {
  const { entries } = catalogueOf({
    a: { payload: Order, description: 'An order', example: order, deprecated: true },
    b: { payload: {} },
  })
  t.match(entries, [
    { name: 'a', description: 'An order', example: order, hasExample: true, deprecated: true },
    { name: 'b', description: null, example: null, hasExample: false, deprecated: false },
  ])
})

t.test('a wrong definition of an event is an error that names it', async (t) => {
  const wrong: [object, RegExp][] = [
    [{ a: null }, /the event "a" must be an object, got null/],
    [{ a: {} }, /the event "a" needs "payload", a JSON Schema, got undefined/],
    [{ a: { payload: {}, schema: {} } }, /the event "a" has no field "schema"; there are: payload/],
    [{ a: { payload: {}, description: 5 } }, /"description" must be a text/],
    [{ a: { payload: {}, deprecated: 'yes' } }, /"deprecated" must be true or false/],
    [{ a: { payload: { type: 'objekt' } } }, /the payload of "a" is no JSON Schema/],
    [{ a: { payload: { $async: true } } }, /the payload of "a" is no JSON Schema: "\$async"/],
    [{ a: { payload: { $ref: '#/nowhere' } } }, /the payload of "a" is no JSON Schema/],
    [
      { a: { payload: Order, example: { ...order, id: 'x' } } },
      /example of "a".*example\/id must be/,
    ],
    [{ a: { payload: {}, example: () => 1 } }, /example of "a".*no JSON/],
  ]
  for (const [events, message] of wrong) {
    t.throws(() => catalogueOf(events), { code: 'SVC_CORE_INVALID_OPTION', message })
    t.throws(() => catalogueOf(events, 'off'), { message }, 'also where nothing is checked')
  }
})

t.test('defineEvents returns its argument, and throws for invalid names', async (t) => {
  const events = { 'order.created': { payload: Order } }
  t.equal(defineEvents(events), events)
  const wrong = {
    'svc.x': 'SVC_CORE_RESERVED_EVENT_NAME',
    'two words': 'SVC_CORE_INVALID_EVENT_NAME',
  }
  for (const [name, code] of Object.entries(wrong)) {
    t.throws(() => defineEvents({ [name]: { payload: {} } }), { code, message: new RegExp(name) })
    t.throws(() => catalogueOf({ [name]: { payload: {} } }), { code })
  }
})
