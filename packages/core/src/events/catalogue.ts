/** The events that a host has defined, and the check of their payloads. */
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { validationMessage } from '../actions/validate-input.ts'
import { InvalidOption, PayloadMismatch } from '../errors.ts'
import { isFunction, isPlainObject, kindOf } from '../options/check-options.ts'
import type { EventDefinition, EventDefinitions } from './define-events.ts'
import { checkedHostEventName } from './validate-event.ts'

/** What happens to a payload that does not match. */
export type EventValidation = 'reject' | 'warn' | 'off'

/** A defined event; what is not given is `null` or `false`. */
export interface CatalogueEntry {
  name: string
  description: string | null
  payload: object
  example: unknown
  hasExample: boolean
  deprecated: boolean
}

interface Log {
  warn(details: object, message: string): void
}

const ajvOptions = {
  // A payload is checked, and never changed.
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  allErrors: false,
  strict: false,
} as const

const IGNORED = 'a part of the schema of an event is ignored'

const FIELDS = ['payload', 'description', 'example', 'deprecated']

export class Catalogue {
  readonly entries: readonly CatalogueEntry[]
  #validators = new Map<string, ValidateFunction>()
  #mode: EventValidation
  #log: Log

  /**
   * @throws InvalidEventName, ReservedEventName, and InvalidOption naming the event whose definition,
   *   schema or example is wrong
   */
  constructor(events: EventDefinitions, mode: EventValidation, log: Log) {
    this.#mode = mode
    this.#log = log
    this.entries = Object.entries(events).map(([name, definition]) => {
      checkedHostEventName(name)
      assertDefinition(name, definition)
      const payload = jsonSchemaOf(name, definition.payload)
      const validate = compile(name, payload, log)
      const hasExample = definition.example !== undefined
      if (hasExample) assertExample(name, definition.example, validate)
      this.#validators.set(name, validate)
      const { description = null, example = null, deprecated = false } = definition
      return { name, description, payload, example, hasExample, deprecated }
    })
  }

  /**
   * Checks a payload, as JSON text, against the schema of its event: what is stored is what is
   * checked.
   *
   * @throws PayloadMismatch, where the option `eventValidation` is `'reject'`
   */
  check(name: string, payload: string): void {
    const validate = this.#mode === 'off' ? undefined : this.#validators.get(name)
    if (validate === undefined || validate(JSON.parse(payload))) return
    const problem = validationMessage(validate.errors, 'payload')
    if (this.#mode === 'reject') throw new PayloadMismatch(name, problem)
    this.#log.warn({ event: name, problem }, 'a payload does not match the schema of its event')
  }
}

function assertDefinition(
  name: string,
  definition: unknown,
): asserts definition is EventDefinition {
  const where = `svcCore: the option "events": the event "${name}"`
  if (!isPlainObject(definition)) {
    throw new InvalidOption(`${where} must be an object, got ${kindOf(definition)}`)
  }
  const unknown = Object.keys(definition).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined) {
    throw new InvalidOption(`${where} has no field "${unknown}"; there are: ${FIELDS.join(', ')}`)
  }
  const { payload, description, deprecated } = definition
  if (!isPlainObject(payload) && !isFunction(payload)) {
    throw new InvalidOption(`${where} needs "payload", a JSON Schema, got ${kindOf(payload)}`)
  }
  if (description !== undefined && typeof description !== 'string') {
    throw new InvalidOption(`${where}: "description" must be a text, got ${kindOf(description)}`)
  }
  if (deprecated !== undefined && typeof deprecated !== 'boolean') {
    throw new InvalidOption(`${where}: "deprecated" must be true or false`)
  }
}

/** How a schema of a library gives its JSON Schema. @see https://standardschema.dev/json-schema */
interface StandardSchema {
  '~standard'?: {
    vendor: string
    jsonSchema?: { input?: (options: { target: string }) => unknown }
  }
}

/**
 * The JSON Schema of what is published: of a library's schema that of its input, since its transforms do not run.
 *
 * @throws InvalidOption
 */
function jsonSchemaOf(name: string, given: object): object {
  const { '~standard': standard } = given as StandardSchema
  const where = `svcCore: the option "events": the payload of "${name}"`
  if (standard === undefined) {
    if (isPlainObject(given)) return given
    throw new InvalidOption(`${where} must be a schema, got a function`)
  }
  const { vendor, jsonSchema } = standard
  if (!isFunction(jsonSchema?.input)) {
    throw new InvalidOption(
      `${where} is a schema of ${vendor} that cannot give its JSON Schema: use Zod 4.2, ArkType 2.1.28 or later, "toStandardJsonSchema" of @valibot/to-json-schema, or give the JSON Schema itself`,
    )
  }
  let schema: unknown
  try {
    schema = jsonSchema.input({ target: 'draft-2020-12' })
  } catch (error) {
    throw new InvalidOption(
      `${where} cannot be written as JSON Schema: ${(error as Error).message}`,
    )
  }
  if (isPlainObject(schema)) return schema
  throw new InvalidOption(`${where} gave ${kindOf(schema)} as its JSON Schema`)
}

/** A compiler for each: two events may have schemas of one `$id`. */
function compile(name: string, schema: object, log: Log): ValidateFunction {
  const dialect: unknown = (schema as { $schema?: unknown }).$schema
  // In later drafts some keywords of draft 7, which TypeBox writes, have another meaning.
  const isLater = typeof dialect === 'string' && /draft\/20(?:19|20)-/.test(dialect)
  const warn = (problem: string): void => log.warn({ event: name, problem }, IGNORED)
  // Of a format that it does not know Ajv would write to the standard output.
  const options = { ...ajvOptions, logger: { log: warn, warn, error: warn } }
  const ajv = isLater ? new Ajv2020(options) : new Ajv(options)
  addFormats.default(ajv)
  try {
    const validate = ajv.compile(schema)
    // It would answer with a promise, which is taken for a match.
    if ('$async' in validate) throw new Error('"$async" is not supported')
    return validate
  } catch (error) {
    throw new InvalidOption(
      `svcCore: the option "events": the payload of "${name}" is no JSON Schema: ${(error as Error).message}`,
    )
  }
}

function assertExample(name: string, example: unknown, validate: ValidateFunction): void {
  const text: string | undefined = JSON.stringify(example)
  if (text !== undefined && validate(JSON.parse(text))) return
  const problem =
    text === undefined ? 'it is no JSON' : validationMessage(validate.errors, 'example')
  throw new InvalidOption(
    `svcCore: the option "events": the example of "${name}" does not match its schema: ${problem}`,
  )
}
