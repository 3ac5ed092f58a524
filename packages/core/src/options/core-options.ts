import type pg from 'pg'
import { InvalidOption } from '../errors.ts'

/** What one option may be: the one door through which the options of every plugin pass. */
export interface OptionRule {
  /** Ends the sentence "must be …". */
  expects: string
  is?: (value: unknown) => boolean
  /**
   * For a list: whether an element may stand in it. A message names a wrong element by its index and
   * its value, so that no list of secrets may have this.
   */
  each?: (element: unknown) => boolean
  /** Rules of the fields, for an option that is an object. */
  fields?: OptionRules
  default?: unknown
  required?: boolean
}

export type OptionRules = Record<string, OptionRule>

/**
 * Checks what a host gave against the rules and fills in the defaults.
 *
 * @throws InvalidOption naming the option, what it was and what it must be. A string is not
 *   repeated in the message, as it may be a secret, save elements of lists.
 */
export function settleOptions<Settled>(
  plugin: string,
  rules: OptionRules,
  given: unknown,
  path = '',
): Settled {
  if (!isPlainObject(given)) {
    throw new InvalidOption(
      `${plugin}: ${path ? `the option "${path.slice(0, -1)}"` : 'the options'} must be an object, got ${kindOf(given)}`,
    )
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(rules, name)) {
      throw new InvalidOption(
        `${plugin}: there is no option "${path}${name}"; there are: ${Object.keys(rules).join(', ')}`,
      )
    }
  }
  const settled: Record<string, unknown> = {}
  for (const [name, rule] of Object.entries(rules)) {
    settled[name] = settleOne(plugin, `${path}${name}`, rule, given[name])
  }
  return settled as Settled
}

function settleOne(plugin: string, path: string, rule: OptionRule, value: unknown): unknown {
  if (value === undefined) {
    if (rule.required) {
      throw new InvalidOption(
        `${plugin}: the option "${path}" is missing, it must be ${rule.expects}`,
      )
    }
    return rule.fields && rule.default === undefined
      ? settleOptions(plugin, rule.fields, {}, `${path}.`)
      : rule.default
  }
  if (rule.fields) return settleOptions(plugin, rule.fields, value, `${path}.`)
  const flaw = flawOf(rule, value)
  if (flaw === undefined) return value
  throw new InvalidOption(`${plugin}: the option "${path}" must be ${rule.expects}, ${flaw}`)
}

function flawOf({ is, each }: OptionRule, value: unknown): string | undefined {
  if (each && Array.isArray(value)) {
    const index = value.findIndex((element) => !each(element))
    return index === -1 ? undefined : `but its element [${index}] is ${quoted(value[index])}`
  }
  const isRight = is ? is(value) : !each
  return isRight ? undefined : `got ${kindOf(value)}`
}

const LONGEST_QUOTE = 100

const quoted = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, LONGEST_QUOTE)) : kindOf(value)

export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isIntegerFrom =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most

export const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
export const isString = (value: unknown): boolean => typeof value === 'string' && value !== ''
export const isFunction = (value: unknown): boolean => typeof value === 'function'

/** Numbers and booleans are told as they are; anything else by its kind alone. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value === '') return 'an empty string'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

const SEVEN_DAYS_OF_SECONDS = 7 * 24 * 3600

/** Settings of everything that works through a queue: deliveries and durable subscriptions. */
export interface WorkerOptions {
  /** `false`: this process publishes and serves, but delivers nothing. @default true */
  enabled?: boolean
  /** How often a job is tried before it is dead-lettered. @default 17 */
  maxAttempts?: number
  /** Lower bound of the first delay, in seconds; up to twice that with jitter. @default 5 */
  retryDelaySeconds?: number
  /** Whether the delay doubles with each attempt. @default true */
  retryBackoff?: boolean
  /** Upper bound of a delay, in seconds. @default 43200 */
  retryDelayMaxSeconds?: number
  /** Deliveries in flight in one process. @default 256 */
  concurrency?: number
}

/** Options of `svcCore`. */
export interface SvcCoreOptions {
  /**
   * Where the tables and the queues live. A pool that is given is never ended.
   * @default the secret `DATABASE_URL`
   */
  database?: string | pg.PoolConfig | pg.Pool | undefined
  /** Looks a secret up by its name. @default environment variables */
  secrets?: (name: string) => string | null | undefined | Promise<string | null | undefined>
  worker?: WorkerOptions
  /**
   * How long an event and its payload are kept, in days; longer where a job, a dead letter or a
   * row of a log needs them. A publish `id` is idempotent so long.
   * @default 30
   */
  eventRetentionDays?: number
}

export type WorkerSettings = Required<WorkerOptions>

/** {@link SvcCoreOptions} with the defaults filled in. */
export interface CoreSettings {
  database: SvcCoreOptions['database']
  secrets: NonNullable<SvcCoreOptions['secrets']>
  worker: WorkerSettings
  eventRetentionDays: number
}

const rules: OptionRules = {
  database: {
    expects: 'a connection string, a pg.PoolConfig or a pg.Pool',
    is: (value) => isString(value) || isPlainObject(value),
  },
  secrets: {
    expects: 'a function (name) => string or null',
    is: isFunction,
    default: (name: string) => process.env[name] ?? null,
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
  eventRetentionDays: {
    expects: 'an integer from 1 to 36500 (days)',
    is: isIntegerFrom(1, 36_500),
    default: 30,
  },
}

/** @throws InvalidOption */
export function settleCoreOptions(given: unknown): CoreSettings {
  return settleOptions<CoreSettings>('svcCore', rules, given)
}
