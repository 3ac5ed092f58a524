/** The events that webhooks may subscribe to, as the host describes them. */
import type { CatalogueEntry } from '@svc/core/internal'
import type { EventDescription } from '../schemas.ts'
import { relocatedSchema } from './relocated-schema.ts'

/** The event of a test delivery. */
export const TEST_EVENT = 'webhook.test'

/** An allowed event; `payload` is its JSON Schema, `null` where the host has not defined it. */
export interface DescribedEvent extends Omit<CatalogueEntry, 'payload'> {
  payload: object | null
}

/** The allowed events in the order of their names. */
export function describeEvents(
  allowedEvents: readonly string[],
  defined: readonly CatalogueEntry[],
): DescribedEvent[] {
  const byName = new Map(defined.map((entry) => [entry.name, entry]))
  return allowedEvents.toSorted().map((name) => byName.get(name) ?? undescribed(name))
}

const undescribed = (name: string): DescribedEvent => ({
  name,
  description: null,
  payload: null,
  example: null,
  hasExample: false,
  deprecated: false,
})

export const descriptionOf = ({
  hasExample: _,
  payload: schema,
  ...shown
}: DescribedEvent): EventDescription => ({ ...shown, schema })

const EXAMPLE_DELIVERY_ID = '018f4e5a-7b1c-7def-8abc-0123456789ab'

/**
 * The JSON Schema of the body of a delivery of this event. `place` is the URI fragment of the schema in
 * its document.
 */
export const bodySchema = ({ name, payload }: DescribedEvent, place: string): object => ({
  type: 'object',
  required: ['event', 'payload', 'deliveryId'],
  properties: {
    event: { type: 'string', const: name },
    payload:
      payload === null
        ? { description: 'What the application published.' }
        : relocatedSchema(payload, `${place}/properties/payload`),
    deliveryId: { type: 'string', format: 'uuid' },
  },
})

export const bodyExample = ({ name, example }: DescribedEvent): object => ({
  event: name,
  payload: example,
  deliveryId: EXAMPLE_DELIVERY_ID,
})
