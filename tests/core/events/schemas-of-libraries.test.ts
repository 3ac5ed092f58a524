/** Events that are defined by schemas of the libraries that hosts have, typed by each. */
import { Type } from '@sinclair/typebox'
import { defineEvents, type EventsOf } from '@svc/core'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import t from 'tap'
import TypeOne from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'
import { startHost } from '../support/host.ts'

const events = defineEvents({
  typebox: { payload: Type.Object({ id: Type.Integer(), note: Type.Optional(Type.String()) }) },
  'typebox.1': {
    payload: TypeOne.Object({
      id: TypeOne.Integer(),
      note: TypeOne.Optional(TypeOne.String()),
    }),
  },
  zod: {
    payload: z.object({
      id: z.int().refine((id) => id > 100),
      note: z.string().transform(Number).optional(),
    }),
    example: { id: 1 },
  },
  valibot: { payload: toStandardJsonSchema(v.object({ id: v.pipe(v.number(), v.integer()) })) },
  arktype: { payload: type({ id: 'number.integer', 'note?': 'string' }) },
  json: {
    payload: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'integer' }, note: { type: 'string' } },
    },
  },
})

type Payloads = EventsOf<typeof events>
type IsSame<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Compiles for equal types alone. */
const same = <A, B>(_same: IsSame<A, B>): void => {}

t.test('payloads have the types of their schemas', async (t) => {
  same<Payloads['typebox'], { id: number; note?: string }>(true)
  same<Payloads['typebox.1']['id'], number>(true)
  same<Payloads['typebox.1']['note'], string | undefined>(true)
  // What is published, and kept: no transform of the library runs.
  same<Payloads['zod'], { id: number; note?: string | undefined }>(true)
  same<Payloads['valibot'], { id: number }>(true)
  same<Payloads['arktype'], { id: number; note?: string }>(true)
  same<Payloads['json']['id'], number>(true)
  const loose: { type: string } = { type: 'object' }
  const known = defineEvents({ loose: { payload: loose } })
  same<EventsOf<typeof known>['loose'], unknown>(true)
  t.pass()
})

t.test('payloads are checked by the JSON Schema of each library alike', async (t) => {
  const { app } = await startHost(t, { core: { events } })
  for (const name of Object.keys(events)) {
    const publish = (payload: unknown) => app.svc.events.publish(name as never, payload as never)
    await publish({ id: 7 })
    await t.rejects(
      publish({ id: 'seven' }),
      { code: 'SVC_INVALID_PAYLOAD', message: /payload\/id must be (integer|number)/ },
      name,
    )
    await t.rejects(publish({}), { code: 'SVC_INVALID_PAYLOAD', message: /must have.*id/ }, name)
  }
})

t.test(
  'a schema that cannot give its JSON Schema is an error at boot that names the event',
  async (t) => {
    for (const [payload, message] of [
      [v.object({ id: v.number() }), /payload of "order" is a schema of valibot that cannot give/],
      [
        z.object({ at: z.date() }),
        /payload of "order" cannot be written as JSON Schema: Date cannot/,
      ],
      [() => true, /payload of "order" must be a schema, got a function/],
    ] as const) {
      const wrong = defineEvents({ order: { payload } })
      await t.rejects(startHost(t, { core: { events: wrong } }), {
        code: 'SVC_CORE_INVALID_OPTION',
        message,
      })
    }
  },
)
