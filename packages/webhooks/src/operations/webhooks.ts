/** The operations on webhooks. */
import { Type } from '@sinclair/typebox'
import {
  EVERY_EVENT,
  EVERYWHERE,
  isEventPattern,
  isRestricted,
  MOST_COUNTED as MOST_OF_CALL,
  narrowedReach,
  Nothing,
  OWN_EVENTS,
  shapeOf,
  tenantOfNew,
  uuidv7,
  compileFilter,
  type Cipher,
  type Core,
  type Db,
} from '@svc/core/internal'
import {
  EventNotAllowed,
  TooManySecrets,
  TransformNotAllowed,
  UrlRefused,
  WebhooksLimitReached,
  InvalidMetadata,
  TimeoutTooLong,
  UnknownTransform,
} from '../errors.ts'
import {
  MOST_COUNTED,
  QUEUE,
  SUBSCRIPTION,
  withWaiting,
  type DeliveryData,
} from '../outbound/delivery-queue.ts'
import type { SigningKeys } from '../outbound/delivery/ed25519.ts'
import { skippedRows } from '../outbound/delivery/record-deliveries.ts'
import { urlProblem, type IsBlocked } from '../outbound/http/blocked-addresses.ts'
import {
  maskedHeaders,
  assertCustomHeaders,
  assertNoContentType,
} from '../outbound/settings/custom-headers.ts'
import { assertSecret, newSecret } from '../outbound/settings/secret.ts'
import {
  CountedWebhooks,
  DEFAULT_OVERLAP_SECONDS,
  NewWebhook,
  ofTenantAndState,
  Page,
  RotateSecretInput,
  TenantPage,
  Webhook,
  WebhookUpdate,
  WebhookWithSecret,
  type Count,
  type DeliverySigning,
  type TenantOfWebhooks,
  type WebhookChanges,
} from '../schemas.ts'
import { WebhookId } from '../schema-pieces.ts'
import { NO_TRANSFORM, type AnyTransform } from '../outbound/transforms/transform.ts'
import { insertLogRows } from '../tables/delivery-log.ts'
import { open, seal, sealHeaders, type SecretColumns } from '../tables/sealed-columns.ts'
import {
  countWebhooks,
  countWebhooksOf,
  deleteWebhook,
  insertWebhook,
  isPaused,
  listTenants,
  listWebhooks,
  lockTenant,
  lockWebhook,
  replaceSecret,
  updateWebhook,
  type ChangedColumns,
  type KeptSecrets,
} from '../tables/webhooks.ts'
import { findPreviousSecrets } from '../tables/webhook-secrets.ts'
import type { StoredWebhook } from '../tables/webhook-row.ts'
import { auditChange } from '../outbound/audit.ts'
import {
  assertMayAim,
  assertMayReceive,
  existing,
  foundWebhook,
  operation,
  shownTo,
  webhookIdOf,
  type Caller,
} from '../caller.ts'
import { isDisabledAsFailing, resumeFailing } from '../outbound/health/disable-and-resume.ts'
import { pause, recipientOf, release, resume } from '../outbound/pause.ts'
import type { SettingsInput } from '../settings-schemas.ts'

export interface WebhookRules extends SettingsRules {
  allowedEvents: string[]
  isBlocked: IsBlocked
  /** `null`: no limit. */
  maxWebhooksPerTenant: number | null
  signingKeys: SigningKeys | null
  standardWebhooks: boolean
  /** The transform of webhooks that name none; `null` for our own body. */
  defaultTransform: string | null
}

export function webhookOperations(core: Core, rules: WebhookRules) {
  const { allowedEvents, isBlocked, maxWebhooksPerTenant, signingKeys } = rules
  const { cipher } = core
  const isKnown = (name: string) =>
    isEventPattern(name) || allowedEvents.includes(name) || OWN_EVENTS.includes(name)
  const recipientsChanged = () => core.queues.recipientsChanged(QUEUE)

  function check({ url, events, ...settings }: ChangedColumns, { reach }: Caller): void {
    const problem =
      typeof url === 'string' ? urlProblem(url, isBlocked, reach === EVERYWHERE) : null
    if (problem !== null) throw new UrlRefused(problem)
    const unknown = events?.find((name) => !isKnown(name))
    if (unknown !== undefined) {
      const known = unknown.startsWith('svc.') ? OWN_EVENTS : [EVERY_EVENT, ...allowedEvents]
      throw new EventNotAllowed(unknown, known.join(', '))
    }
    checkSettings(settings, rules)
  }

  async function discardAll(db: Db, id: string): Promise<void> {
    const discarded = await core.queues.discard<DeliveryData>(db, QUEUE, id)
    await insertLogRows(db, skippedRows(discarded))
  }

  async function counted(db: Db, row: StoredWebhook): Promise<WebhookWithSecret> {
    const [webhook] = await withWaiting(core, db, [withPublicKey(row)], MOST_COUNTED)
    return webhook as WebhookWithSecret
  }

  const withPublicKey = <Row extends { id: string }>(row: Row): Row & { publicKey?: string } => {
    const publicKey = signingKeys?.publicKeyOf(row.id)
    return publicKey === undefined ? row : { ...row, publicKey }
  }

  async function assertRoomFor(db: Db, tenant: string | null): Promise<void> {
    if (tenant === null || maxWebhooksPerTenant === null) return
    if ((await countWebhooksOf(db, tenant)) >= maxWebhooksPerTenant) {
      throw new WebhooksLimitReached(String(maxWebhooksPerTenant))
    }
  }

  return {
    register: operation({
      input: NewWebhook,
      output: WebhookWithSecret,
      writes: true,
      routes: { 'POST /': { status: 201, summary: 'Register a webhook' } },
      async run(by, given) {
        const input = { ...given, events: namesOf(given.events) }
        check(input, by)
        assertTransformAllowed(input, by)
        assertMayReceive(by, input.events)
        const tenant = tenantOfNew(by.reach, input.tenant)
        checkCombination(input)
        if (input.secret !== undefined) assertSecret(input.secret)
        const { label = null } = input
        const id = uuidv7()
        return await core.within(by.db, async (db) => {
          await assertRoomFor(db, tenant)
          const row = { ...input, id, tenant, label, secret: input.secret ?? newSecret() }
          const { secret, headers = null } = row
          if (tenant !== null) await lockTenant(db, tenant)
          const webhook = await insertWebhook(db, QUEUE, seal(cipher, id, row))
          if (await isPaused(db, id)) await core.queues.hold(db, QUEUE, [id])
          await core.fanOut.setRecipient(db, SUBSCRIPTION, recipientOf(webhook))
          if (isRestricted(webhook)) core.afterCommit(db, recipientsChanged)
          await auditChange(db, by.origin, 'create', null, webhook)
          return { ...withPublicKey(webhook), secret, headers, waiting: 0 }
        })
      },
    }),

    list: operation({
      input: Page,
      output: Type.Array(Webhook),
      routes: {
        'GET /': { takes: ofTenantAndState, limit: 1000, summary: 'List webhooks, newest first' },
      },
      async run(by, { tenant, ids, ...page }) {
        const reach = narrowedReach(by.reach, tenant)
        if (reach === undefined) return []
        const named = ids && { ids: ids.map(webhookIdOf) }
        const rows = await listWebhooks(core.readDb, { ...page, ...named }, reach)
        const counted = await withWaiting(core, core.readDb, rows.map(withPublicKey))
        return counted.map((webhook) => shownTo(by, withoutSecret(webhook)))
      },
    }),

    count: operation({
      input: CountedWebhooks,
      output: shapeOf<Count>(),
      async run({ reach }, { tenant, ...of }) {
        const narrowed = narrowedReach(reach, tenant)
        if (narrowed === undefined) return { count: 0 }
        return countOf(await countWebhooks(core.readDb, of, narrowed, MOST_OF_CALL + 1))
      },
    }),

    listTenants: operation({
      input: TenantPage,
      output: shapeOf<TenantOfWebhooks[]>(),
      run: ({ reach }, page) => listTenants(core.readDb, reach, page),
    }),

    get: operation({
      input: WebhookId,
      output: WebhookWithSecret,
      routes: { 'GET /:id': { summary: 'Get a webhook with its secret' } },
      async run(by, given) {
        const row = await foundWebhook(core.readDb, given, by)
        return shownTo(by, open(cipher, row.id, await counted(core.readDb, row)))
      },
    }),

    signing: operation({
      input: WebhookId,
      output: shapeOf<DeliverySigning>(),
      async run(by, given) {
        const webhook = await foundWebhook(core.readDb, given, by)
        const named = webhook.transform ?? rules.defaultTransform
        const transform = named === NO_TRANSFORM ? null : named
        const made = transform === null ? undefined : rules.transforms.get(transform)
        return {
          headerPrefix: rules.headerPrefix,
          transform,
          ownSignatures: made === undefined || 'ofJson' in made || made.ownSignatures,
          standardWebhooks: rules.standardWebhooks || signingKeys !== null,
          publicKey: signingKeys?.publicKeyOf(webhook.id) ?? null,
        }
      },
    }),

    update: operation({
      input: WebhookUpdate,
      output: Webhook,
      writes: true,
      routes: { 'PATCH /:id': { summary: 'Change a webhook, pause it or resume it' } },
      async run(by, { id: given, events, ...changes }) {
        const id = webhookIdOf(given)
        const named = events === undefined ? {} : { events: namesOf(events) }
        const all: ChangedColumns = { ...changes, ...named }
        assertTransformAllowed(all, by)
        check(all, by)
        assertMayReceive(by, all.events ?? [])
        return await core.within(by.db, async (db) => {
          const before = existing(id, await lockWebhook(db, id, by.reach))
          // Checked before anything is written: the caller may go on with its transaction.
          assertMayAim(by, all, before)
          checkCombination(changes, before)
          const { headers } = changes
          const sealed = headers ? { ...all, headers: sealHeaders(cipher, id, headers) } : all
          // Before the row of the recipient is locked, as the work on its jobs locks them.
          if (before.url === null && typeof changes.url === 'string') {
            await core.queues.stopDiscard(db, QUEUE, id)
          }
          const after = await updateWebhook(db, id, sealed)
          await auditChange(db, by.origin, 'update', before, after)
          const isMoved = before.url !== after.url
          const isRestrictedAnew = restrictionsOf(before) !== restrictionsOf(after)
          if (before.active && !after.active) await pause(core, db, id)
          else if (after.active && isDisabledAsFailing(before)) {
            await resumeFailing(core, db, before, after, 'operator')
          } else if (!before.active && after.active) await resume(core, db, after)
          else if (after.active)
            await core.fanOut.setRecipient(db, SUBSCRIPTION, recipientOf(after))
          if (before.url !== null && after.url === null) await discardAll(db, id)
          // Failures at the old address do not count against the new one.
          if (after.active && isMoved) await release(core, db, id)
          const isChanged = before.active !== after.active || isMoved || isRestrictedAnew
          if (isChanged) core.afterCommit(db, recipientsChanged)
          return shownTo(by, withoutSecret(await counted(db, after)))
        })
      },
    }),

    delete: operation({
      input: WebhookId,
      output: Nothing,
      writes: true,
      routes: {
        'DELETE /:id': { status: 204, summary: 'Delete a webhook and its waiting deliveries' },
      },
      async run(by, given) {
        const id = webhookIdOf(given)
        await core.within(by.db, async (db) => {
          const deleted = existing(id, await deleteWebhook(db, id, by.reach))
          await auditChange(db, by.origin, 'delete', deleted, null)
          await core.fanOut.setRecipient(db, SUBSCRIPTION, { id, events: [] })
          await discardAll(db, id)
          core.afterCommit(db, recipientsChanged)
        })
      },
    }),

    rotateSecret: operation({
      input: RotateSecretInput,
      output: WebhookWithSecret,
      writes: true,
      routes: {
        'POST /:id/rotate-secret': {
          summary:
            'Replace the secret, by a new one unless one is given; for a while deliveries are signed with the old one as well',
        },
      },
      async run(by, input) {
        const { overlapSeconds = DEFAULT_OVERLAP_SECONDS, secret = newSecret() } = input
        const id = webhookIdOf(input.id)
        assertSecret(secret)
        return await core.within(by.db, async (db) => {
          const before = existing(id, await lockWebhook(db, id, by.reach))
          const old =
            overlapSeconds === 0 ? NONE_KEPT : await secretsToKeep(db, cipher, before, secret)
          const sealed = seal(cipher, id, { secret }).secret
          const webhook = await replaceSecret(db, id, sealed, { ...old, overlapSeconds })
          await auditChange(db, by.origin, 'rotate-secret', { ...webhook, secret: '' }, webhook)
          return { ...shownTo(by, masked(await counted(db, webhook))), secret }
        })
      },
    }),
  }
}

/** The names of events, each once; a text is a list of one. */
export const namesOf = (events: string | readonly string[]): string[] => [
  ...new Set([events].flat()),
]

const restrictionsOf = ({ rateLimit, maxInFlight, ordered }: StoredWebhook): string =>
  JSON.stringify([rateLimit?.limit, rateLimit?.perSeconds, maxInFlight, ordered])

/** What was counted up to one more than the bound. */
export const countOf = (counted: number): Count =>
  counted > MOST_OF_CALL ? { count: MOST_OF_CALL, atLeast: true } : { count: counted }

/** A transform is code of the operator: a tenant's webhook has none. @throws TransformNotAllowed */
function assertTransformAllowed({ transform }: WebhookChanges, { reach }: Caller): void {
  if (reach !== EVERYWHERE && typeof transform === 'string') throw new TransformNotAllowed()
}

/** With a new one: what each delivery is signed with. */
const MOST_SECRETS = 5
const NONE_KEPT = { previousSecret: null, kept: [] }

/**
 * The secrets that sign beside `next`. Those that cannot be decrypted are not among them: a new one can be
 * made all the same. `next` itself is not either, where the webhook has or had it: it signs once.
 *
 * @throws TooManySecrets
 */
async function secretsToKeep(
  db: Db,
  cipher: Cipher,
  { id, secret }: StoredWebhook,
  next: string,
): Promise<Omit<KeptSecrets, 'overlapSeconds'>> {
  const current = opened(cipher, id, { secret })?.secret
  const previous = (await findPreviousSecrets(db, id)).filter((one) => {
    const [text] =
      opened(cipher, id, { secret: '', previousSecrets: [one.secret] })?.previousSecrets ?? []
    return text !== undefined && text !== next
  })
  const isKept = current !== undefined && current !== next
  if (previous.length + (isKept ? 2 : 1) > MOST_SECRETS) {
    const [first = ''] = previous.map(({ expiresAt }) => new Date(expiresAt).toISOString()).sort()
    throw new TooManySecrets(String(previous.length + 1), first)
  }
  const kept = previous.map((one) => one.secret)
  if (!isKept) return { previousSecret: null, kept }
  const [sealed = null] = seal(cipher, id, {
    secret: '',
    previousSecrets: [current],
  }).previousSecrets
  return { previousSecret: sealed, kept }
}

/** `undefined` where they cannot be decrypted. */
function opened<Columns extends SecretColumns>(
  cipher: Cipher,
  id: string,
  columns: Columns,
): Columns | undefined {
  try {
    return open(cipher, id, columns)
  } catch {
    return undefined
  }
}

const withoutSecret = ({ secret: _, ...shown }: WebhookWithSecret): Webhook => masked(shown)

const masked = <Shown extends Webhook>(webhook: Shown): Shown => ({
  ...webhook,
  headers: maskedHeaders(webhook.headers),
})

// Checks of a webhook's settings that a schema cannot express.

export interface SettingsRules {
  deliveryTimeoutMs: number
  transforms: ReadonlyMap<string, AnyTransform>
  headerPrefix: string
}

/** @throws InvalidFilter, InvalidHeader, InvalidMetadata, TimeoutTooLong, UnknownTransform */
export function checkSettings(
  { filter, headers, metadata, timeoutMs, transform }: SettingsInput,
  { deliveryTimeoutMs, transforms, headerPrefix }: SettingsRules,
): void {
  if (filter) compileFilter(filter)
  if (headers) assertCustomHeaders(headers, headerPrefix)
  if (metadata) assertMetadata(metadata)
  if (timeoutMs && timeoutMs > deliveryTimeoutMs) throw new TimeoutTooLong(deliveryTimeoutMs)
  if (typeof transform === 'string' && transform !== NO_TRANSFORM && !transforms.has(transform)) {
    throw new UnknownTransform(transform, [...transforms.keys(), NO_TRANSFORM].join(', '))
  }
}

/** Postgres stores no NUL and no half of a surrogate pair. @throws InvalidMetadata */
function assertMetadata(metadata: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(metadata)) {
    if (isStorable(name) && isStorable(value)) continue
    const shown = JSON.stringify(name.slice(0, 40))
    throw new InvalidMetadata(`metadata ${shown} holds a NUL, or half of a surrogate pair`)
  }
}

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** Checks what depends on two settings: on what is given, and else on what the webhook has. */
export function checkCombination(
  given: SettingsInput,
  before: Pick<SettingsInput, 'headers' | 'transform'> = {},
): void {
  const { headers, transform } = { ...before, ...definedOf(given) }
  const isOwnBody = transform === undefined || transform === null || transform === NO_TRANSFORM
  if (isOwnBody) assertNoContentType(headers ?? null)
}

const definedOf = ({ headers, transform }: SettingsInput): SettingsInput => ({
  ...(headers !== undefined && { headers }),
  ...(transform !== undefined && { transform }),
})
