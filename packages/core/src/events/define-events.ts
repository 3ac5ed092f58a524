import type { Static, TSchema } from '@sinclair/typebox'
import { checkedHostEventName } from './validate-event.ts'

/** What a host declares about one of its events. */
export interface EventDefinition {
  /**
   * The schema of its payload: of TypeBox, or a plain JSON Schema of draft 7 or 2020-12.
   * @see https://json-schema.org/specification
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

/** A plain JSON Schema has no type at compile time. */
type PayloadOf<Schema> = Schema extends TSchema ? Static<Schema> : unknown

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
