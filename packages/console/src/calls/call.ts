/** The definition of a call: an operation as a page makes it. */
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import type { AuthOperations } from '@svc/auth'
import { cutPage, type Core, type Input } from '@svc/core/internal'
import type { SvcWebhooks } from '@svc/webhooks'
import type { Links } from '../access/portal-links.ts'
import type { Identity } from '../access/identity.ts'
import type { Sessions } from '../access/sessions.ts'
import type { Masks } from '../masks.ts'
import type { Right } from '../rights.ts'

/** Who calls, and the operations within its reach, with it as the actor of the audit. */
export interface By {
  identity: Identity
  auth: ReturnType<AuthOperations['as']>
  webhooks: ReturnType<SvcWebhooks['as']>
  core: Core
  sessions: Sessions
  masks: Masks
  origin: Parameters<Sessions['end']>[2]
  links: Links
  /** Sessions have ended: their pages are told. */
  ended: () => void
}

export interface Call<Input, Result> {
  right: Right
  /** Another right that opens it as well. */
  orRight?: Right
  /** Whether the call changes something. Such calls are accepted only from pages of the console. */
  changes: boolean
  /** The plugin whose operation it is. */
  needs: 'auth' | 'webhooks' | null
  /** What the operation behind it does not check itself. */
  input: TSchema
  run: (input: Input, by: By) => Promise<Result>
}

/** Makes the calls of a plugin, or those of the console itself: `null`. */
export function callsOf(needs: Call<never, unknown>['needs']) {
  const callsThat =
    (changes: boolean) =>
    <Input, Result>(
      right: Right,
      input: TSchema,
      run: (input: Input, by: By) => Promise<Result>,
      orRight?: Right,
    ): Call<Input, Result> => ({ right, ...(orRight && { orRight }), changes, needs, input, run })
  return { reads: callsThat(false), changes: callsThat(true) }
}

const strict = { additionalProperties: false }

/** The operation behind it checks the fields. */
export const Anything = Type.Object({})
export const Nothing = Type.Object({}, strict)
export type Nothing = Static<typeof Nothing>
export const Id = Type.Object({ id: Type.String() }, strict)
export type Id = Static<typeof Id>

const MOST = 200
const USUAL = 50
/** A page of a list, with filters that the operation behind it checks. */
export const List = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST })),
  after: Type.Optional(Type.String({ maxLength: 1000 })),
})

type Limited = Input<typeof List>

/**
 * Reads one row more than the page holds, to determine whether it is the last one. The page ends before
 * the first row that was not read as a whole. `complete`: where its search ended early.
 */
export async function pageOf<Query extends Limited, Row extends { id: string }, Shown>(
  input: Query,
  list: (page: Query & { limit: number }) => Promise<Row[]>,
  shown: (row: Row) => Shown,
  isWhole: (row: Row) => boolean = () => true,
): Promise<{ items: Shown[]; next: string | null; complete?: false }> {
  const { limit = USUAL } = input
  const { rows, cutAt } = await cutPage(() => list({ ...input, limit: limit + 1 }))
  const end = rows.findIndex((row, index) => index === limit || !isWhole(row))
  const items = end === -1 ? rows : rows.slice(0, end)
  const page = { items: items.map(shown) }
  if (items.length < rows.length) return { ...page, next: items.at(-1)?.id ?? null }
  return cutAt === undefined ? { ...page, next: null } : { ...page, next: cutAt, complete: false }
}

export const asIs = <Row>(row: Row): Row => row
