/**
 * The definition of an operation. Its method of `svc.auth` or `svc.webhooks` and its named action are
 * made here, its routes in http/operation-routes.ts: all of them call its `run`.
 */
import { Type, type Static, type TProperties, type TSchema } from '@sinclair/typebox'
import { InvalidOption } from '../errors.ts'
import type { Input } from '../options/input.ts'
import { isPlainObject, kindOf } from '../options/check-options.ts'
import { checkedDb } from '../postgres/db.ts'
import type { Db } from '../postgres/transaction.ts'
import { withSettings } from '../postgres/session-settings.ts'
import { orDatabaseError } from '../postgres/unavailable.ts'
import type { Actions } from './actions.ts'
import { checkedInput } from './validate-input.ts'

/**
 * The second argument of an operation that writes. Another option than `db` is an InvalidOption.
 *
 * @example
 * await app.svc.transaction((db) => app.svc.auth.createUser({ email, name }, { db }))
 */
export interface OperationOptions {
  /**
   * A client inside a transaction: what the operation writes is committed or rolled back with it.
   * @default a transaction of its own
   */
  db?: Db | undefined
}

/** Who calls an operation. The packages add the reach of the caller, and its name for the audit. */
export interface OperationCaller {
  /** The transaction of the caller. Without it the operation begins one. */
  db?: Db | undefined
}

export interface ListPage {
  rows: { id: string }[]
  hasMore: boolean
  /** What the next page follows. @default the id of the last row */
  next?: string | undefined
  /** The answer, where the rows are no JSON that a serializer could write. */
  json?: string
}

/** An operation over HTTP. The names in the path, the query and the body are the fields of its input. */
export interface OperationRoute<Caller, Given> {
  summary: string
  /** @default 200 */
  status?: number
  /** The status of an answer to an input with `dryRun`. @default that of others */
  statusOfDryRun?: number
  /** The fields of names in the path that have another name. */
  names?: Readonly<Record<string, string>>
  /** The query of a list without `limit` and `after`, or the body. @default the fields that are not in the path */
  takes?: TProperties
  /** A body that may be left out, but not be `null`. @default either, where no field is required */
  body?: 'object'
  /** Makes the route that of a list: how many entries a page has by default, at most 1000. */
  limit?: number
  /** Reads a page of such a list. @default the first `limit` entries */
  page?: (by: Caller, input: Given & { limit: number }) => Promise<ListPage>
  /** The scopes that open the route, and other rules of the guard. @default the scope of the package */
  config?: object
  /** The largest body, in bytes. @default that of the host */
  bodyLimit?: number
  /** Answers of other forms, by their statuses. @default those of every error */
  errors?: Readonly<Record<number, TSchema>>
  /** Keeps it out of the document of @fastify/swagger. @default false */
  hide?: boolean
}

/** By method and path: `/` is the base path itself. */
export type OperationRoutes<Caller, Given> = Readonly<
  Record<`${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`, OperationRoute<Caller, Given>>
>

export interface OperationDefinition<Caller, In extends TSchema, Out extends TSchema> {
  input: In
  output: Out
  /** Whether its method takes `db`. */
  writes?: true
  /** The field that a text stands for in place of the input: `redrive(id)` is `redrive({ id })`. */
  text?: string
  routes?: OperationRoutes<Caller, Static<In>>
  run: (by: Caller, input: Static<In>) => Promise<Static<Out>>
}

export interface Operation<
  Caller,
  In extends TSchema,
  Out extends TSchema,
> extends OperationDefinition<Caller, In, Out> {
  /** The input of a method, checked. @throws InvalidInput */
  accept: (given: unknown) => Static<In>
}

export interface AnyOperation<Caller> {
  input: TSchema
  output: TSchema
  writes?: true
  routes?: OperationRoutes<Caller, never>
  run: (by: Caller, input: never) => Promise<unknown>
  accept: (given: unknown) => unknown
}

export type Operations<Caller> = Readonly<Record<string, AnyOperation<Caller>>>

export const operationFor =
  <Caller extends OperationCaller>() =>
  <In extends TSchema, Out extends TSchema>(
    definition: OperationDefinition<Caller, In, Out>,
  ): Operation<Caller, In, Out> => ({ ...definition, accept: acceptOf(definition) })

/** Made once: the validator is compiled for each schema object. An input without a required field may be left out. */
function acceptOf<In extends TSchema>({ input, text }: { input: In; text?: string }) {
  const schema = text === undefined ? input : Type.Union([Type.String(), input])
  const checked = input === (Anything as TSchema) ? (given: unknown) => given : checkedInput(schema)
  const isRequired = input.type !== 'object' || input['required'] !== undefined
  return (given: unknown): Static<In> => {
    const value = checked(given === undefined && !isRequired ? {} : given)
    return text !== undefined && typeof value === 'string' ? { [text]: value } : value
  }
}

export const Anything = Type.Unknown()
export const Nothing = Type.Unsafe<void>(Type.Null())
/** The output of an operation without a route: no serializer needs its schema. */
export const shapeOf = <Shape>() => Type.Unsafe<Shape>({})

/** The methods of operations: a text may be given where the operation has `text`. */
export type MethodsOf<Defined> = {
  [Name in keyof Defined]: Defined[Name] extends Operation<never, infer In, infer Out>
    ? (input?: Input<In> | string, options?: OperationOptions) => Promise<Static<Out>>
    : never
}

/** The actions of the methods of `svc.auth` or `svc.webhooks`, by their names. */
export type NamedActions<Prefix extends string, Methods> = {
  [Name in Exclude<keyof Methods, 'as'> & string as `${Prefix}.${Name}`]: Methods[Name]
}

interface Host {
  forOurs: (db: Db) => Db
}

/**
 * The operations as functions for the host, on behalf of a caller. Their input is checked against the
 * schema that the routes are made from, `db` as that of `events.publish`. They reject with the errors that
 * the routes answer with.
 *
 * @param owner `svc.auth` or `svc.webhooks`, for messages
 */
export const methodsOf = <Caller, Defined extends Operations<Caller>>(
  host: Host,
  owner: string,
  operations: Defined,
  by: Caller,
): MethodsOf<Defined> =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      methodOf(host, `${owner}.${name}`, operation, by),
    ]),
  ) as MethodsOf<Defined>

function methodOf<Caller>(
  { forOurs }: Host,
  name: string,
  { writes, accept, run }: AnyOperation<Caller>,
  by: Caller,
) {
  return async (input?: unknown, options?: OperationOptions): Promise<unknown> => {
    if (!writes && options !== undefined) {
      throw new InvalidOption(`${name}: it takes no options: what it reads is of no transaction`)
    }
    const given = writes && checkedOptions(name, options)
    const db = given && forOurs(given)
    const work = () => run({ ...by, db }, accept(input) as never)
    return orDatabaseError(db === undefined ? work() : withSettings(db, work), db)
  }
}

export function registerActions(actions: Actions, owner: string, methods: object): void {
  for (const [name, method] of Object.entries(methods)) {
    if (name !== 'as') actions.register(`__${owner}.${name}` as never, method as never)
  }
}

/** Makes a function of the host that reads. */
export function readOperation<Schema extends TSchema, Result>(
  schema: Schema,
  perform: (input: Static<Schema>) => Promise<Result>,
): (input: Input<Schema>) => Promise<Result> {
  const checked = checkedInput(schema)
  return async (input) => orDatabaseError(perform(checked(input)))
}

/**
 * Unknown options are errors: a misspelt `db` would commit at once what the caller means to roll back.
 *
 * @throws InvalidOption, NoTransaction
 */
function checkedOptions(name: string, options: OperationOptions = {}): Db | undefined {
  if (!isPlainObject(options)) {
    throw new InvalidOption(`${name}: the options must be an object, got ${kindOf(options)}`)
  }
  const unknown = Object.keys(options).find((option) => option !== 'db')
  if (unknown !== undefined) {
    throw new InvalidOption(`${name}: there is no option "${unknown}"; there is: db`)
  }
  return options.db === undefined ? undefined : checkedDb(options.db, name)
}
