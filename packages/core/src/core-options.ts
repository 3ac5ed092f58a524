import type pg from 'pg'
import type { EventValidation } from './events/catalogue.ts'
import type { EventDefinitions } from './events/define-events.ts'
import type { ShapeErrorBody } from './http/error-body.ts'
import {
  isBoolean,
  isFunction,
  isIntegerFrom,
  isPlainObject,
  isStorableText,
  isString,
  resolveOptions,
  type OptionRules,
  type ResolvedOptions,
} from './options/check-options.ts'
import type { DatabaseConfig } from './postgres/host-list.ts'
import { DEFAULT_SCHEMA } from './postgres/schema-names.ts'

/** `…_jobs` may be the schema of another application's queues; others have the tables of the host. */
const SCHEMA = /^(?!pg_|public$|information_schema$)[a-z_][a-z0-9_]{0,40}(?<!_jobs)$/

const SEVEN_DAYS_OF_SECONDS = 7 * 24 * 3600

/**
 * Settings of everything that works through a queue: deliveries and durable subscriptions.
 *
 * @example
 * const worker: WorkerOptions = { maxAttempts: 8, retryDelaySeconds: 30, retryDelayMaxSeconds: 3600 }
 */
export interface WorkerOptions {
  /** `false`: this process publishes and serves, but delivers nothing. @default true */
  enabled?: boolean | undefined
  /** How often a job is tried before it is dead-lettered, 1 to 1000. @default 17: about 1.5 days */
  maxAttempts?: number | undefined
  /** Lower bound of the first delay, in seconds; up to twice that with jitter. @default 5 */
  retryDelaySeconds?: number | undefined
  /** Whether the delay doubles with each attempt. @default true */
  retryBackoff?: boolean | undefined
  /** Upper bound of a delay, in seconds. @default 43200 */
  retryDelayMaxSeconds?: number | undefined
  /** Deliveries in flight in one process, 1 to 10000. @default 256 */
  concurrency?: number | undefined
}

/**
 * Options of `svcCore`. Each one that does not match is an InvalidOption at boot.
 *
 * @example
 * const options: SvcCoreOptions = {
 *   database: process.env.DATABASE_URL,
 *   worker: { enabled: process.env.ROLE === 'worker' },
 *   eventRetentionDays: 90,
 * }
 */
export interface SvcCoreOptions {
  /**
   * The database of the tables and queues. A given pool is never ended. A connection string or a config may
   * list several hosts: see {@link DatabaseConfig}.
   * @default the secret `DATABASE_URL`
   */
  database?: string | DatabaseConfig | pg.Pool | undefined
  /**
   * The schema of the tables; those of the queues are in `<schema>_jobs`. Another name gives a second
   * application in the same database tables, functions, channels and locks of its own. A lower-case letter
   * or `_`, then up to 40 lower-case letters, digits and `_`; not `pg_…`, `…_jobs`, `public` or
   * `information_schema`.
   * @default 'svc'
   */
  schema?: string | undefined
  /**
   * The name of the application, 1 to 214 characters. A host that finds another name in its schema logs a
   * warning at boot: two applications that share tables share keys, webhooks, events and limits. All
   * processes of one application have one name.
   * @default the name in the package.json nearest to the main script
   */
  application?: string | undefined
  /** Looks a secret up by its name. @default environment variables */
  secrets?:
    | ((name: string) => string | null | undefined | Promise<string | null | undefined>)
    | undefined
  /**
   * How many connections lists, searches, counts and statistics run on, 1 to 100: beside those of
   * `database`, and open only while there are such reads. @default 2
   */
  readers?: number | undefined
  /** How jobs are run in this process. @default see {@link WorkerOptions} */
  worker?: WorkerOptions | undefined
  /**
   * `'boot'`: the host makes its tables and queues. `'check'`: it makes and changes none, needs
   * rights on rows alone, and does not boot where something is missing; `npx svc migrate` makes it.
   * @default 'boot'
   */
  migrate?: 'boot' | 'check' | undefined
  /**
   * How long an event and its payload are kept, in days; longer where a job, a dead letter or a row
   * of a log needs them. For that long a publish with the same `id` is a repeat.
   * @default 30
   */
  eventRetentionDays?: number | undefined
  /** How long the rows of the audit are kept, in days. @default 365 */
  auditRetentionDays?: number | undefined
  /**
   * How long a transaction of `svc.transaction` may go without a statement, in seconds, 1 to 86400:
   * Postgres ends one that waits longer, since others may wait for what it has locked. A shorter
   * `idle_in_transaction_session_timeout` of the session stays as it is.
   * @default 60
   */
  transactionIdleSeconds?: number | undefined
  /**
   * Seals the secrets of webhooks, and the values of their headers, where they are stored: names of
   * secrets that hold 32 bytes of base64 each. The first one encrypts (AES-256-GCM), all decrypt.
   * @default null
   */
  encryption?: { secretNames: string[] } | null | undefined
  /**
   * The events of the host, as `defineEvents` returns them: schemas that payloads are checked against,
   * descriptions and examples.
   * @default {}
   */
  events?: EventDefinitions | undefined
  /**
   * What becomes of a publish whose payload does not match the schema of its event: it is refused, or
   * a warning is logged, or nothing is checked.
   * @default 'reject'
   */
  eventValidation?: EventValidation | undefined
  /**
   * The host's shape of error bodies: what it returns is the body, as JSON, of every error answer of
   * ours (guard, management, inbound). Status and headers stay ours.
   * @default null: our own, `{ statusCode, code, error, message }`
   */
  errorBody?: ShapeErrorBody | null | undefined
}

export type WorkerSettings = ResolvedOptions<WorkerOptions>

/** {@link SvcCoreOptions} with the defaults filled in. */
export interface CoreSettings extends ResolvedOptions<
  Omit<SvcCoreOptions, 'database' | 'application' | 'worker'>
> {
  database: SvcCoreOptions['database']
  application: string | undefined
  worker: WorkerSettings
}

const rules: OptionRules = {
  database: {
    expects: 'a connection string, a pg.PoolConfig or a pg.Pool',
    is: (value) => isString(value) || isPlainObject(value),
  },
  schema: {
    quoted: true,
    expects:
      'a lower-case letter or "_", then at most 40 lower-case letters, digits and "_", and neither "public", "information_schema" nor a name that begins with "pg_" or ends with "_jobs"',
    is: (value) => typeof value === 'string' && SCHEMA.test(value),
    default: DEFAULT_SCHEMA,
  },
  application: {
    quoted: true,
    expects: 'a text of 1 to 214 characters',
    is: (value) => isStorableText(value, 214),
  },
  secrets: {
    expects: 'a function (name) => string or null',
    is: isFunction,
    default: (name: string) => process.env[name] ?? null,
  },
  readers: {
    expects: 'an integer from 1 to 100 (connections)',
    is: isIntegerFrom(1, 100),
    default: 2,
  },
  worker: {
    expects: 'an object',
    fields: {
      enabled: { expects: 'true or false', is: isBoolean, default: true },
      maxAttempts: {
        expects: 'an integer from 1 to 1000',
        is: isIntegerFrom(1, 1000),
        default: 17,
      },
      retryDelaySeconds: {
        expects: 'an integer of at least 0 (seconds, at most 7 days)',
        is: isIntegerFrom(0, SEVEN_DAYS_OF_SECONDS),
        default: 5,
      },
      retryBackoff: { expects: 'true or false', is: isBoolean, default: true },
      retryDelayMaxSeconds: {
        expects: 'an integer of at least 1 (seconds, at most 7 days)',
        is: isIntegerFrom(1, SEVEN_DAYS_OF_SECONDS),
        default: 43_200,
      },
      concurrency: {
        expects: 'an integer from 1 to 10000',
        is: isIntegerFrom(1, 10_000),
        default: 256,
      },
    },
  },
  migrate: {
    quoted: true,
    expects: '"boot" or "check"',
    is: (value) => value === 'boot' || value === 'check',
    default: 'boot',
  },
  eventRetentionDays: {
    expects: 'an integer from 1 to 36500 (days)',
    is: isIntegerFrom(1, 36_500),
    default: 30,
  },
  auditRetentionDays: {
    expects: 'an integer from 1 to 36500 (days)',
    is: isIntegerFrom(1, 36_500),
    default: 365,
  },
  transactionIdleSeconds: {
    expects: 'an integer from 1 to 86400 (seconds)',
    is: isIntegerFrom(1, 86_400),
    default: 60,
  },
  encryption: {
    expects: 'an object such as { secretNames: ["SVC_KEY_2", "SVC_KEY_1"] }',
    is: (value) => value === null || areSecretNames(value),
    default: null,
  },
  events: {
    expects: 'an object of definitions by the names of the events, as defineEvents returns it',
    is: isPlainObject,
    default: {},
  },
  eventValidation: {
    expects: '"reject", "warn" or "off"',
    is: (value) => value === 'reject' || value === 'warn' || value === 'off',
    default: 'reject',
  },
  errorBody: {
    expects: 'a function (error, request) => body, or null',
    is: (value) => value === null || isFunction(value),
    default: null,
  },
}

function areSecretNames(value: unknown): boolean {
  if (!isPlainObject(value) || Object.keys(value).join() !== 'secretNames') return false
  const names = value['secretNames']
  return Array.isArray(names) && names.length > 0 && names.every(isString)
}

/** Those that all processes on a database should have alike. */
export function sharedOptions(settings: CoreSettings): Record<string, unknown> {
  const { eventRetentionDays, auditRetentionDays, encryption, eventValidation } = settings
  const { maxAttempts, retryDelaySeconds, retryBackoff, retryDelayMaxSeconds } = settings.worker
  const worker = { maxAttempts, retryDelaySeconds, retryBackoff, retryDelayMaxSeconds }
  return { eventRetentionDays, auditRetentionDays, encryption, eventValidation, worker }
}

/** @throws InvalidOption */
export function resolveCoreOptions(given: unknown): CoreSettings {
  return resolveOptions<CoreSettings>('svcCore', rules, given)
}
