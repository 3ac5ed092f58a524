import type { Static, TSchema } from '@sinclair/typebox'
import type { Static as StaticOfSchema } from 'typebox'
import { checkedHostEventName } from './validate-event.ts'

/** What a host declares about one of its events. */
export interface EventDefinition {
  /**
   * The schema of its payload: of TypeBox (`@sinclair/typebox` or `typebox`), a plain JSON Schema of draft 7 or
   * 2020-12, or of a library that can give the JSON Schema of its own, such as Zod 4.2. What is checked is the JSON
   * Schema of its input: refinements and transforms of a library do not run.
   * @see https://json-schema.org/specification
   * @see https://standardschema.dev/json-schema
   */
  payload: object
  /** What it means, for those who receive it. @default none */
  description?: string | undefined
  /**
   * A payload that matches the schema: it is shown in the docs, and sent as a test event. @default
   * none
   */
  example?: unknown
  /** Whether it will be removed. @default false */
  deprecated?: boolean | undefined
}

/** Definitions by the names of the events. */
export type EventDefinitions = Readonly<Record<string, EventDefinition>>

/** The payloads of defined events by their names, for the interface `SvcEvents`. */
export type EventsOf<Definitions> = {
  [Name in keyof Definitions]: Definitions[Name] extends { payload: infer Schema }
    ? PayloadOf<Schema>
    : unknown
}

/** `unknown` for a plain JSON Schema that is not written down as a constant. */
type PayloadOf<Schema> = Schema extends TSchema
  ? Static<Schema>
  : Schema extends StandardTyped<infer Input>
    ? Input
    : StaticOfSchema<Schema & {}>

/** What Zod, Valibot, ArkType and others tell of their types. @see https://standardschema.dev */
interface StandardTyped<Input> {
  readonly '~standard': { readonly types?: { readonly input: Input } | undefined }
}

/**
 * Describes the events of a host, for the option `events` of `svcCore`.
 *
 * @throws InvalidEventName, ReservedEventName for a name that no event of a host can have
 * @example
 * export const events = defineEvents({
 *   'order.created': {
 *     description: 'A customer has paid for an order.',
 *     payload: Type.Object({ id: Type.Integer(), total: Type.Number() }),
 *     example: { id: 42, total: 99.5 },
 *   },
 * })
 * declare module '@svc/core' {
 *   interface SvcEvents extends EventsOf<typeof events> {}
 * }
 */
export function defineEvents<const Definitions extends EventDefinitions>(
  events: Definitions,
): Definitions {
  for (const name of Object.keys(events)) checkedHostEventName(name)
  return events
}
