/** One validator for routes and actions, so that an action refuses what its route refuses. */
import type { TSchema, Static } from '@sinclair/typebox'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { InvalidInput } from '../errors.ts'
import { isUuid } from '../ids.ts'
import { isPlainObject } from '../options/check-options.ts'
import { allowedBy } from '../options/patterns.ts'

const common = {
  // An unknown field is a mistake of the caller: it is an error, and is not dropped.
  removeAdditional: false,
  useDefaults: true,
  allErrors: false,
  strict: false,
} as const

/** Bodies, path parameters and the arguments of actions: `name: 5` is not "5". */
const exact = withFormats(new Ajv({ ...common, coerceTypes: false }))
/** Query strings hold nothing but text. */
const coercing = withFormats(new Ajv({ ...common, coerceTypes: 'array' }))

function withFormats(ajv: Ajv): Ajv {
  addFormats.default(ajv)
  const { validate: isDateTime } = ajv.formats['date-time'] as {
    validate: (text: string) => boolean
  }
  return (
    ajv
      // The format of ajv-formats takes "urn:uuid:…" too, which Postgres refuses.
      .addFormat('uuid', isUuid)
      // For fields with an error of their own for a time that cannot be stored.
      .addFormat('date-time-of-any-year', isDateTime)
      .addFormat('date-time', (text: string) => isDateTime(text) && isStorable(text))
  )
}

/** Postgres reads no offset of 16 hours and more, and no time of more than some hundred characters. */
const UNREADABLE = /[+-](?:1[6-9]|2\d):?\d\d$|^.{101}/

/** Whether JavaScript and Postgres have this time: no leap second, and in UTC a year from 1 to 9999. */
function isStorable(text: string): boolean {
  const year = new Date(text).getUTCFullYear()
  return year >= 1 && year <= 9999 && !UNREADABLE.test(text)
}

/**
 * The validator of a schema, compiled at its first use: a process uses few of its routes and actions,
 * and to compile the schemas of all of them took most of the time of a boot.
 */
export function validatorFor(httpPart: string | undefined, schema: object): () => ValidateFunction {
  return compiledOnce(() => (httpPart === 'querystring' ? coercing : exact).compile(schema))
}

export function compiledOnce<Compiled>(compile: () => Compiled): () => Compiled {
  let compiled: Compiled | undefined
  return () => (compiled ??= compile())
}

/** Fastify's wording: `body/email must match format "email"`. */
export function validationMessage(errors: ErrorObject[] | null | undefined, where: string): string {
  if (!errors || errors.length === 0) return `${where} is not valid`
  const fitting = withoutWrongConstants(errors)
  const furthest = furthestOf(fitting)
  const { instancePath, propertyName } = furthest
  // The path is that of the object, as if the error were its own.
  const spot = propertyName === undefined ? '' : `: its name ${JSON.stringify(propertyName)}`
  const message = alternativesOf(fitting, furthest) ?? messageOf(furthest)
  return `${where}${instancePath}${spot} ${message}`
}

/** For a union, the branch that matched furthest is the most likely intention: one of another type did not. */
function furthestOf(errors: ErrorObject[]): ErrorObject {
  const rank = ({ keyword }: ErrorObject) =>
    keyword === 'anyOf' || keyword === 'oneOf' ? 0 : keyword === 'type' ? 1 : 2
  const isFurther = (one: ErrorObject, other: ErrorObject) =>
    depthOf(one) - depthOf(other) || rank(one) - rank(other)
  return errors.reduce((best, error) => (isFurther(error, best) > 0 ? error : best))
}

/** Without the errors of constants of another type than the input's: the error of the type says enough. */
function withoutWrongConstants(errors: ErrorObject[]): ErrorObject[] {
  const branchOf = ({ schemaPath }: ErrorObject) => schemaPath.slice(0, schemaPath.lastIndexOf('/'))
  const ofWrongType = new Set(errors.filter(({ keyword }) => keyword === 'type').map(branchOf))
  return errors.filter((error) => error.keyword !== 'const' || !ofWrongType.has(branchOf(error)))
}

/** What the branches take, where one of them is a constant, or where there are several types. */
function alternativesOf(errors: ErrorObject[], furthest: ErrorObject): string | undefined {
  const here = errors.filter(({ instancePath }) => instancePath === furthest.instancePath)
  const ofKeyword = (keyword: string) => here.filter((error) => error.keyword === keyword)
  const constants = ofKeyword('const').map(({ params }) => JSON.stringify(params['allowedValue']))
  const types = ofKeyword('type')
  if (constants.length === 0 && (furthest.keyword !== 'type' || types.length < 2)) return undefined
  const names = types.flatMap(({ params }) => String(params['type']).split(','))
  const others = here
    .filter(({ keyword }) => !['const', 'type', 'anyOf', 'oneOf'].includes(keyword))
    .map((error) => messageOf(error).replace(/^must /, ''))
  return `must be ${[...new Set([...constants, ...names]), ...others].join(' or ')}`
}

const messageOf = (error: ErrorObject): string => {
  const allowed = error.keyword === 'pattern' && allowedBy(String(error.params['pattern']))
  if (allowed) return `must be ${allowed}`
  const name = error.keyword === 'format' && FORMAT_NAMES[String(error.params['format'])]
  return `${name ? `must match format "${name}"` : error.message}${detailOf(error)}`
}

/** A missing offset is the most frequent mistake. */
const WITH_OFFSET = ', with an offset such as "Z" or "+02:00"'
const FORMAT_DETAILS: Record<string, string> = {
  'date-time': `${WITH_OFFSET} that is below 16 hours, in the years 1 to 9999 and not in a leap second`,
  'date-time-of-any-year': WITH_OFFSET,
}
/** What a format of ours is called by others. */
const FORMAT_NAMES: Record<string, string> = { 'date-time-of-any-year': 'date-time' }

const depthOf = ({ instancePath }: ErrorObject): number => instancePath.split('/').length

function detailOf({ keyword, params }: ErrorObject): string {
  if (keyword === 'additionalProperties') return ` ("${params['additionalProperty']}")`
  if (keyword === 'format') return FORMAT_DETAILS[String(params['format'])] ?? ''
  if (keyword !== 'enum') return ''
  const allowed = params['allowedValues'] as unknown[]
  return `: ${allowed.map((value) => JSON.stringify(value)).join(', ')}`
}

/** @throws InvalidInput */
export function checkedInput<Schema extends TSchema>(
  schema: Schema,
): (input: unknown) => Static<Schema> {
  const validator = validatorFor('body', schema)
  return (input) => {
    const validate = validator()
    // Defaults are filled in: not into the caller's own object.
    const copy = copyOf(input)
    if (validate(copy)) return copy
    throw new InvalidInput(validationMessage(validate.errors, 'input'))
  }
}

/** @throws InvalidInput */
function copyOf(input: unknown): unknown {
  try {
    return withoutUndefined(structuredClone(input))
  } catch (error) {
    if (error instanceof RangeError) {
      throw new InvalidInput(`input must be something that JSON can write: ${error.message}`)
    }
    throw new InvalidInput('input holds something that is no data, like a function')
  }
}

/**
 * A field that is `undefined` counts as left out, as in JSON. A host may pass on a field that the body of
 * its own request lacks: an operation that took it as given would overwrite the stored value.
 * Below the fields it stays: the schemas refuse it there, where it would widen a filter unseen.
 */
function withoutUndefined(input: unknown): unknown {
  if (!isPlainObject(input)) return input
  for (const [field, value] of Object.entries(input)) {
    if (value === undefined) delete input[field]
  }
  return input
}
