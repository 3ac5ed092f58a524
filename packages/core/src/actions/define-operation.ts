/** An operation: the one function behind a method of `svc.auth` or `svc.webhooks` and a named action. */
import type { Static, TSchema } from '@sinclair/typebox'
import { InvalidOption } from '../errors.ts'
import type { Input } from '../options/input.ts'
import { isPlainObject, kindOf } from '../options/check-options.ts'
import { checkedDb } from '../postgres/checked-db.ts'
import type { Db } from '../postgres/transaction.ts'
import { withSettings } from '../postgres/session-settings.ts'
import { orDatabaseError } from '../postgres/unavailable.ts'
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

interface Host {
  /** The transaction of a caller for our statements. */
  forOurs: (db: Db) => Db
}

/**
 * Returns what makes an operation of the host that writes. Its input is checked against the schema of its route, `db` as that
 * of `events.publish`. It rejects with the errors that its route answers with.
 */
export const writeOperations =
  ({ forOurs }: Host) =>
  <Schema extends TSchema, Result>(
    name: string,
    schema: Schema,
    perform: (input: Static<Schema>, db: Db | undefined) => Promise<Result>,
  ): ((input: Input<Schema>, options?: OperationOptions) => Promise<Result>) => {
    const checked = checkedInput(schema)
    return async (input, options) => {
      const given = checkedOptions(name, options)
      const db = given && forOurs(given)
      const work = (): Promise<Result> => perform(checked(input), db)
      return orDatabaseError(db === undefined ? work() : withSettings(db, work), db)
    }
  }

/** Makes an operation that reads. */
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
