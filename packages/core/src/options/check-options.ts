import { InvalidOption } from '../errors.ts'

/** Checks options. The options of every plugin are checked here. */
export interface OptionRule {
  /** Ends the sentence "must be …". */
  expects: string
  is?: (value: unknown) => boolean
  /**
   * For a list: whether an element is allowed. A message names a wrong element by its index and its
   * value, so do not use this for a list of secrets.
   */
  each?: (element: unknown) => boolean
  /** A message quotes a wrong text: for what is never a secret, such as a path. @default false */
  quoted?: boolean
  /** Rules of the fields, for an option that is an object. With `default: undefined` it may be left out. */
  fields?: OptionRules
  default?: unknown
  required?: boolean
}

export type OptionRules = Record<string, OptionRule>

/** Options with the defaults filled in. */
export type ResolvedOptions<Options> = {
  [Name in keyof Options]-?: Exclude<Options[Name], undefined>
}

/**
 * Checks what a host gave against the rules and fills in the defaults.
 *
 * @throws InvalidOption naming the option, what it was and what it must be. A string is not
 *   repeated in the message, as it may be a secret, save elements of lists and `quoted` options.
 */
export function resolveOptions<Resolved>(
  plugin: string,
  rules: OptionRules,
  given: unknown,
  path = '',
): Resolved {
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
  return settled as Resolved
}

function settleOne(plugin: string, path: string, rule: OptionRule, value: unknown): unknown {
  if (value === undefined) {
    if (rule.required) {
      throw new InvalidOption(
        `${plugin}: the option "${path}" is missing, it must be ${rule.expects}`,
      )
    }
    return rule.fields && !('default' in rule)
      ? resolveOptions(plugin, rule.fields, {}, `${path}.`)
      : rule.default
  }
  if (rule.fields) return resolveOptions(plugin, rule.fields, value, `${path}.`)
  const problem = problemOf(rule, value)
  if (problem === undefined) return value
  throw new InvalidOption(`${plugin}: the option "${path}" must be ${rule.expects}, ${problem}`)
}

function problemOf({ is, each, quoted: isQuoted }: OptionRule, value: unknown): string | undefined {
  if (each && Array.isArray(value)) {
    const index = value.findIndex((element) => !each(element))
    return index === -1 ? undefined : `but its element [${index}] is ${quoted(value[index])}`
  }
  const isRight = is ? is(value) : !each
  return isRight ? undefined : `got ${isQuoted ? quoted(value) : kindOf(value)}`
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
/** Text that Postgres gives back as it was: it keeps no NUL and no half of a surrogate pair. */
export const isStorableText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' &&
  value.length >= 1 &&
  value.length <= longest &&
  !value.includes('\0') &&
  value.isWellFormed()

export const isFunction = (value: unknown): value is (...args: unknown[]) => unknown =>
  typeof value === 'function'

/** Numbers and booleans are shown with their value; anything else only by its type. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value === '') return 'an empty string'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
