/** Payload schemas with references, in the documents that describe deliveries. */
import { Type } from '@sinclair/typebox'
import { defineEvents } from '@svc/core'
import t from 'tap'
import { relocatedSchema } from '../../../packages/webhooks/src/outbound/relocated-schema.ts'
import { startHost } from '../support/host.ts'

const AT = '#/components/schemas/order'

t.test('references name their places in the document', (t) => {
  const cases: [string, object, object][] = [
    ['the schema itself', { $ref: '#' }, { $ref: AT }],
    [
      'a definition',
      { $defs: { a: { type: 'string' } }, items: { $ref: '#/$defs/a' } },
      { $defs: { a: { type: 'string' } }, items: { $ref: `${AT}/$defs/a` } },
    ],
    [
      'an id of its own',
      { properties: { 'a/b': { $id: 'T0', items: { $ref: 'T0' } } } },
      { properties: { 'a/b': { items: { $ref: `${AT}/properties/a~1b` } } } },
    ],
    ['a document elsewhere', { $ref: 'https://a.example/b' }, { $ref: 'https://a.example/b' }],
    [
      'data is left alone',
      { const: { $ref: '#/a' }, enum: [{ $id: 'x' }], examples: [{ $ref: '#' }] },
      { const: { $ref: '#/a' }, enum: [{ $id: 'x' }], examples: [{ $ref: '#' }] },
    ],
    [
      'fields with the names of keywords',
      { properties: { $ref: { type: 'string' }, $id: { type: 'string' }, const: { $ref: '#' } } },
      { properties: { $ref: { type: 'string' }, $id: { type: 'string' }, const: { $ref: AT } } },
    ],
  ]
  for (const [name, schema, expected] of cases) t.same(relocatedSchema(schema, AT), expected, name)
  t.end()
})

t.test('every reference of the AsyncAPI document leads to something', async (t) => {
  const tree = Type.Recursive((This) => Type.Object({ children: Type.Array(This) }))
  const plain = {
    type: 'object',
    definitions: { name: { type: 'string' } },
    properties: { name: { $ref: '#/definitions/name' } },
  }
  const events = defineEvents({ 'tree.grown': { payload: tree }, 'name.given': { payload: plain } })
  const { ask } = await startHost(t, {
    allowedEvents: ['tree.grown', 'name.given'],
    core: { events },
  })
  const { body } = await ask('GET', '/asyncapi.json')
  const references: string[] = []
  JSON.stringify(body, (name, value: unknown) => {
    if (name === '$ref' && typeof value === 'string') references.push(value)
    return value
  })
  t.ok(references.some((reference) => reference.endsWith('/payload/properties/payload')))
  t.ok(references.some((reference) => reference.endsWith('/definitions/name')))
  for (const reference of references) {
    const steps = reference.split('/').slice(1)
    const found = steps.reduce<unknown>(
      (value, step) => (value as Record<string, unknown> | undefined)?.[step.replaceAll('~1', '/')],
      body,
    )
    t.type(found, 'object', reference)
  }
})
