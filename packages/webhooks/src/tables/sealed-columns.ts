/** The columns of webhooks that hold secrets: sealed where the host has the option `encryption`. */
import type { Cipher } from '@svc/core/internal'

/** The columns as they are stored, or opened. */
export interface SecretColumns {
  secret: string
  previousSecrets?: readonly string[]
  headers?: Readonly<Record<string, string>> | null | undefined
}

const TABLE = '__svc.webhooks.registrations'

type Change = (text: string, column: string) => string

/** Seals the columns of the webhook `row`. */
export const seal = <Columns extends SecretColumns>(
  cipher: Cipher,
  row: string,
  columns: Columns,
): Columns =>
  cipher.isEnabled
    ? mapped(columns, (text, column) => cipher.seal(text, { table: TABLE, column, row }))
    : columns

/** @throws DecryptionFailed */
export const open = <Columns extends SecretColumns>(
  cipher: Cipher,
  row: string,
  columns: Columns,
): Columns => mapped(columns, (text, column) => cipher.open(text, { table: TABLE, column, row }))

/** Encrypts only the values of headers. */
export const sealHeaders = (
  cipher: Cipher,
  row: string,
  headers: Readonly<Record<string, string>>,
): Record<string, string> =>
  mapValues(headers, (text, column) => cipher.seal(text, { table: TABLE, column, row }))

/** Whether all of it is sealed with the first key. */
export const isCurrent = (cipher: Cipher, columns: SecretColumns): boolean =>
  [
    columns.secret,
    ...(columns.previousSecrets ?? []),
    ...Object.values(columns.headers ?? {}),
  ].every((text) => cipher.isCurrent(text))

function mapped<Columns extends SecretColumns>(columns: Columns, change: Change): Columns {
  const { secret, previousSecrets, headers } = columns
  return {
    ...columns,
    secret: change(secret, 'secret'),
    ...(previousSecrets && {
      previousSecrets: previousSecrets.map((text) => change(text, 'previous_secrets')),
    }),
    ...(headers && { headers: mapValues(headers, change) }),
  }
}

/** The name of a header belongs to the place of its value. */
const mapValues = (headers: Readonly<Record<string, string>>, change: Change) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, change(value, `headers ${name}`)]),
  )
