/** The rows of the audit, and how their `changes` are computed. */
import type { Input } from '../options/input.ts'
import { Type, type Static } from '@sinclair/typebox'
import { isStorableText } from '../options/check-options.ts'
import { STORABLE_TEXT, nullable, TenantFilter } from '../http/schemas.ts'

export const ACTOR_KINDS = ['key', 'bootstrap', 'console', 'process', 'system'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

const Actor = Type.Object({
  kind: Type.Unsafe<ActorKind>({
    type: 'string',
    enum: [...ACTOR_KINDS],
    description:
      '"process": code of the host, or a request where nothing guards the routes. "system": we ourselves.',
  }),
  keyId: nullable(Type.String()),
  userId: nullable(Type.String()),
})

/** As an index can hold it, and as a query may name it. */
export const isUserId = (value: unknown): value is string | null =>
  value === null || isStorableText(value, 200)

export const USER_ID = '1 to 200 characters, without NUL or half a surrogate pair'

const Change = Type.Object({ from: Type.Unknown(), to: Type.Unknown() })

export const AuditEntry = Type.Object({
  id: Type.String(),
  at: Type.String({ format: 'date-time' }),
  tenant: nullable(Type.String()),
  actor: Type.Object({
    ...Actor.properties,
    name: nullable(
      Type.String({ description: 'At the time: the label of the key, or the name of its user.' }),
    ),
  }),
  action: Type.String({ description: 'Such as "key.create", "webhook.update".' }),
  target: Type.Object({
    kind: Type.String(),
    id: Type.String(),
    name: nullable(
      Type.String({
        description:
          'At the time: the label of a key or webhook, or the name of its user, or its URL; the name of a user.',
      }),
    ),
  }),
  changes: nullable(
    Type.Record(Type.String(), Change, {
      description:
        'The fields that changed; secrets are "***". null once the tenant was erased, as the names are.',
    }),
  ),
  requestId: nullable(Type.String()),
  ip: nullable(Type.String()),
})
/** A change: who made it, of what, and which fields it changed. `at` is ISO 8601 in UTC. */
export type AuditEntry = Static<typeof AuditEntry>
/** Who made a change. `keyId` and `userId` are `null` where it was no key. */
export type AuditActor = Static<typeof Actor>
/** The fields that changed. */
export type AuditChanges = Record<string, { from: unknown; to: unknown }>

/** What is changed. A `target` of a query that is none of these is an id. */
const TARGET_KINDS = [
  'import',
  'inbound',
  'key',
  'link',
  'session',
  'subscription',
  'tenant',
  'user',
  'webhook',
] as const
export type TargetKind = (typeof TARGET_KINDS)[number]

export const isTargetKind = (target: string | undefined): target is TargetKind =>
  TARGET_KINDS.some((kind) => kind === target)

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: STORABLE_TEXT, description }))

/** The filters that the route and `svc.audit.list` share. */
export const auditFilter = {
  tenant: TenantFilter,
  actor: text('Id of a key or of a user, or a kind such as "bootstrap".'),
  target: text('Id of what was changed, or a kind such as "webhook".'),
  action: text('Such as "key.create".'),
  since: Type.Optional(Type.String({ format: 'date-time', description: 'From this time on.' })),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Before this time.' })),
}

export const AuditQuery = Type.Object(
  {
    ...auditFilter,
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    after: Type.Optional(Type.String({ format: 'uuid' })),
  },
  { additionalProperties: false },
)
/**
 * Which changes are listed. `actor` is the id of a key or a user, or a kind; `target` an id or a
 * kind; `since` (from then on) and `until` (before then) are ISO 8601 with an offset.
 */
export type AuditQuery = Input<typeof AuditQuery>

export const MASKED = '***'

/** The fields that differ. Of `secrets` neither value is shown; a missing field counts as `null`. */
export function changesOf(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  secrets: readonly string[] = [],
): AuditChanges {
  const changes: AuditChanges = {}
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const from = before[field] ?? null
    const to = after[field] ?? null
    if (JSON.stringify(from) === JSON.stringify(to)) continue
    const shown = (value: unknown) => (value !== null && secrets.includes(field) ? MASKED : value)
    changes[field] = { from: shown(from), to: shown(to) }
  }
  return changes
}
