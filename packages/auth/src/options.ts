import { InvalidOption } from '@svc/core'
import { resolveOptions, type ResolvedOptions } from '@svc/core/internal'
import type { onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify'
import { InvalidRole } from './errors.ts'
import type { GithubKey } from './github-alerts.ts'
import { MAX_LIMITS, repeatedSpan, type Limit, type Plan } from './limit-fields.ts'
import type { PlanOf } from './limits/plans.ts'
import { planRules, rules } from './option-rules.ts'
import { createScopeNames, type Scope } from './scopes.ts'
import type { RateLimit } from './tables/lockouts.ts'

/**
 * Options of `svcAuth`.
 *
 * @example
 * const options: SvcAuthOptions = {
 *   bootstrapKeySecret: 'BOOTSTRAP_KEY',
 *   excludePaths: ['/health', '/public/*'],
 *   scopes: ['billing:read'],
 * }
 */
export interface SvcAuthOptions {
  /**
   * Which paths need a key: all, or those under these prefixes. A prefix ends where a segment
   * ends: `/api` is `/api` and `/api/x`, not `/apix`.
   * @default 'all'
   */
  protectedPaths?: 'all' | string[] | undefined
  /**
   * Paths that are open, for every method: whole paths, and with `/*` at the end all paths below one
   * but not that path itself.
   * @default ['/health']
   */
  excludePaths?: string[] | undefined
  /**
   * Name of the secret that holds the bootstrap key, 16 to 512 characters. It is read again every
   * 5 seconds.
   * @default none
   */
  bootstrapKeySecret?: string | undefined
  /**
   * Base path of the management API; `null` disables it. A key with its scope, `auth:manage`, can
   * create keys with `read` and `write` for any user.
   * @default '/_auth'
   */
  managementBasePath?: string | null | undefined
  /**
   * A lockout, and no limit of the rate of requests: it blocks key prefixes with too many failed
   * attempts. The right key of the prefix is blocked too, so a stranger who has the first 8
   * characters of a key can have it blocked.
   * @default disabled
   */
  rateLimit?: RateLimit | undefined
  /** Prefixes that need the scope `webhooks:manage`. @default ['/_webhooks'] */
  webhooksManagementPaths?: string[] | undefined
  /** Scopes of the host, for keys and for `config.scopes` of routes. @default [] */
  scopes?: Scope[] | undefined
  /**
   * Sets of scopes by names of the host's own. A key with the scope `role:viewer` holds the scopes of
   * the role `viewer` as they are at the boot of each process.
   * @default {}
   */
  roles?: Record<string, Scope[]> | undefined
  /**
   * How many keys a tenant may have that are neither revoked nor expired.
   * @default no limit
   */
  maxKeysPerTenant?: number | undefined
  /**
   * The longest life of a key, in days from when it is made: a later `expiresAt` is refused, and a key
   * without one has this.
   * @default no limit
   */
  maxKeyLifetimeDays?: number | undefined
  /** How many days before the expiry of a key `svc.key.expiring` is published. @default [30, 7, 1] */
  expiryNoticeDays?: number[] | undefined
  /** After how many days without a use `svc.key.unused` is published. @default never */
  unusedNoticeDays?: number | undefined
  /**
   * Takes alerts of GitHub's secret scanning at `<base>/leaks/github` and revokes the keys in them.
   * `keys`: GitHub's public keys, which are fetched from GitHub where they are not given.
   * @default no alerts are taken
   */
  githubLeaks?: { keys?: GithubKey[] | undefined } | undefined
  /**
   * Limits of each tenant: the requests with all its keys together must pass them, beside the limits
   * of the key.
   * @default []
   */
  tenantLimits?: Limit[] | undefined
  /**
   * What another system has made of the text of a key, such as an HMAC, for keys that were imported by
   * that. It is asked only for texts that are not of our format and that no key has the SHA-256 of, and
   * each key needs it once. Where it throws, or gives no text, the key is unknown. It must be quick, since
   * all requests of the process wait for it.
   * @default keys are imported by their SHA-256 alone
   * @example
   * const importedKeys = {
   *   hash: (key: string) => createHmac('sha256', pepper).update(key).digest('hex'),
   * }
   */
  importedKeys?: { hash: (key: string) => string } | undefined
  /**
   * Limits of tenants by names of the host's own, for `planOf`. With `tenantLimits` and
   * `maxKeysPerTenant` both hold.
   * @default no plans
   */
  plans?: Record<string, Plan> | undefined
  /**
   * The plan of a tenant; `null` is the plan `default` where there is one, else none. An answer is
   * remembered for a minute: `svc.auth.planChanged` forgets it. Where it throws, takes longer than 2 seconds
   * or names no plan, the last answer holds for an hour, else the plan `default`, else requests get a 503.
   * @default no plans
   * @example
   * const planOf = async (tenant: string) => (await findCustomer(tenant))?.plan ?? null
   */
  planOf?: PlanOf | undefined
  /** Whether the usage of keys is counted. @default true */
  usage?: boolean | undefined
  /**
   * Up to 4 names of headers that a key may be sent in, beside `X-API-Key` and `Authorization: Bearer`. Two
   * different keys in one request are refused.
   * @default []
   */
  keyHeaders?: string[] | undefined
  /**
   * Whether a key may be sent as the user name of HTTP Basic with an empty password, as with
   * `curl -u "$KEY:"`. With a password the header counts as absent.
   * @default false
   */
  basic?: boolean | undefined
  /** Letters that begin the text of a key: 1 to 3 of a-z. @default 'svc' */
  keyPrefix?: string | undefined
  /** Whether the management routes are part of the host's OpenAPI document. @default true */
  openapi?: boolean | undefined
  /**
   * Functions of `onRequest` hooks that may run before the guard, beside those of
   * `@fastify/request-context`, `@fastify/cors` and `@fastify/helmet`. A name lets every function of
   * that name pass, a function itself only that one. A minifier changes names of functions, and the
   * host does not boot then: keep these names (esbuild: `keepNames`).
   * @default []
   */
  hooksBeforeGuard?: (string | onRequestHookHandler | onRequestAsyncHookHandler)[] | undefined
  /**
   * Whether the guard writes `auth.userId`, `auth.scopes`, `auth.bootstrap` and `auth.tenant` into the
   * request context.
   * @default whether `@fastify/request-context` was registered before svcAuth
   */
  requestContext?: boolean | undefined
}

/** {@link SvcAuthOptions} with the defaults filled in. */
export type AuthSettings = ResolvedOptions<Omit<SvcAuthOptions, Unset>> &
  Pick<SvcAuthOptions, Unset>

/** Options without a default. */
type Unset =
  | 'bootstrapKeySecret'
  | 'rateLimit'
  | 'requestContext'
  | 'maxKeysPerTenant'
  | 'maxKeyLifetimeDays'
  | 'unusedNoticeDays'
  | 'githubLeaks'
  | 'importedKeys'
  | 'plans'
  | 'planOf'

/** @throws InvalidRole: a role holds scopes and namespaces, and no other role */
function assertRolesDeclared({ roles, scopes }: AuthSettings): void {
  const names = createScopeNames(scopes, {})
  for (const [role, held] of Object.entries(roles)) {
    const unknown = names.findUnknown(held)
    if (unknown !== undefined) throw new InvalidRole(role, unknown)
  }
}

/** @throws InvalidOption */
function assertSpansDiffer(option: string, limits: readonly Limit[] = []): void {
  const span = repeatedSpan(limits)
  if (span === undefined) return
  throw new InvalidOption(
    `svcAuth: the option "${option}" must have one limit for each perSeconds, but has two for ${span}`,
  )
}

/** @throws InvalidOption */
function plansOf({ plans, planOf }: AuthSettings): Record<string, Plan> | undefined {
  if ((plans === undefined) !== (planOf === undefined)) {
    const [given, missing] = plans === undefined ? ['planOf', 'plans'] : ['plans', 'planOf']
    throw new InvalidOption(`svcAuth: the option "${given}" needs the option "${missing}" as well`)
  }
  if (plans === undefined) return undefined
  const checked = Object.entries(plans).map(([name, given]) => {
    const path = `plans.${name}.`
    const plan = resolveOptions<Plan>('svcAuth', planRules, given, path)
    assertSpansDiffer(`${path}tenantLimits`, plan.tenantLimits)
    assertSpansDiffer(`${path}keyLimits`, plan.keyLimits)
    if ((plan.keyLimits?.length ?? 0) > MAX_LIMITS) {
      throw new InvalidOption(
        `svcAuth: the option "${path}keyLimits" must have at most ${MAX_LIMITS} limits`,
      )
    }
    return [name, plan]
  })
  return Object.fromEntries(checked)
}

const MOST_KEY_HEADERS = 4

/** In lower case, each once. @throws InvalidOption */
function keyHeadersOf({ keyHeaders }: AuthSettings): string[] {
  if (keyHeaders.length > MOST_KEY_HEADERS) {
    throw new InvalidOption(
      `svcAuth: the option "keyHeaders" must have at most ${MOST_KEY_HEADERS} names, but has ${keyHeaders.length}`,
    )
  }
  return [...new Set(keyHeaders.map((name) => name.toLowerCase()))]
}

/** @throws InvalidOption naming the option, what it was and what it must be; InvalidRole */
export function resolveAuthOptions(given: unknown): AuthSettings {
  const resolved = resolveOptions<AuthSettings>('svcAuth', rules, given)
  const settings = {
    ...resolved,
    keyHeaders: keyHeadersOf(resolved),
    plans: plansOf(resolved),
  }
  assertRolesDeclared(settings)
  assertSpansDiffer('tenantLimits', settings.tenantLimits)
  return settings
}
