/** Recognises errors of the connection to Postgres, and explains them. */

const DISK_FULL = '53100'
/** With such a fault it refuses new connections while its disk is full. */
const NO_ROOM = /could not write init file/

function partsOf(error: unknown): { code?: unknown; message?: unknown; cause?: unknown } {
  const { code, message, cause } = (error ?? {}) as Error & { code?: unknown }
  return { code: NO_ROOM.test(message) ? DISK_FULL : code, message, cause }
}

/**
 * Whether an error means that Postgres is not available, rather than that it refused a statement: there
 * is no connection, or the server can do nothing of the kind at the moment.
 */
export const isConnectionError = (error: unknown): boolean => whyUnavailable(error) !== undefined

/** Whether the connection is gone, or there was none: nothing can be asked on it any more. */
export function isLostConnection(error: unknown): boolean {
  const { code, cause } = partsOf(error)
  if (code === 'SVC_UNAVAILABLE') return cause === undefined || isLostConnection(cause)
  return isConnectionError(error) && stateOf(code)?.answers !== true
}

/**
 * Whether nothing can be done at the moment. A statement that took too long while the server answered
 * others is no outage: it may be that statement alone. Nor is a fault of the server, as of one page.
 */
export const isOutage = (error: unknown): boolean =>
  isConnectionError(error) && !hasBeenCancelled(error) && !isServerFault(error)

/**
 * Whether the error says nothing of the statement: there is no connection, or no server that takes writes. A
 * session that the server ended may have taken too long, and so may a statement that was given up.
 */
export function isAway(error: unknown): boolean {
  const { code, cause } = partsOf(error)
  if (code === 'SVC_UNAVAILABLE') return cause === undefined || isAway(cause)
  if (code === '25006') return true
  return isLostConnection(error) && !hasBeenCancelled(error) && !/^25P0[34]$/.test(`${code}`)
}

/** Whether the server reports a fault of its own: it may be in the rows of one statement alone. */
export function isServerFault(error: unknown): boolean {
  const { code, cause } = partsOf(error)
  return code === 'SVC_UNAVAILABLE'
    ? cause !== undefined && isServerFault(cause)
    : FAULT.test(`${code}`)
}

const FAULT = /^(58|XX|F0)...$/

/** Marks the error of a statement that was given up here, and that the server has cancelled. */
export const markCancelled = (error: Error): Error => Object.assign(error, { [CANCELLED]: true })

const CANCELLED = Symbol('cancelled by the server')

const hasBeenCancelled = (error: unknown): boolean =>
  (error as { [CANCELLED]?: boolean } | null)?.[CANCELLED] === true

const UNREACHABLE = 'the database cannot be reached, try again'

interface State {
  is: RegExp
  /** What is the matter, for the message of an Unavailable. */
  says: string
  /** The server refuses the statement, and the connection stays. */
  answers?: boolean
}

/** SQLSTATEs with which Postgres, or a pooler before it, says that it can do nothing of the kind now. */
const STATES: readonly State[] = [
  { is: /^53300$/, says: 'the database takes no more connections, try again' },
  { is: /^25006$/, says: 'the database only reads at the moment, try again', answers: true },
  { is: /^53100$/, says: 'the disk of the database is full, try again later', answers: true },
  { is: /^53200$/, says: 'the database is out of memory, try again later', answers: true },
  { is: /^53...$/, says: 'the database has used up a resource, try again later', answers: true },
  { is: /^57P0[1-5]$/, says: 'the database is starting or shutting down, try again' },
  // It ended the session: a time-out of the server for idle transactions, or for whole ones.
  { is: /^25P0[34]$/, says: 'the database ended the session, try again' },
  { is: /^28...$/, says: 'the database refuses the login of this process, try again later' },
  { is: /^3D000$/, says: 'the database does not exist at the moment, try again later' },
  { is: FAULT, says: 'the database reports a fault of its own, try again later', answers: true },
  { is: /^08...$/, says: UNREACHABLE },
]

const stateOf = (code: unknown): State | undefined => STATES.find(({ is }) => is.test(`${code}`))

/** Says what is the matter where Postgres is not available; `undefined` where it is. */
export function whyUnavailable(error: unknown): string | undefined {
  const { code, message } = partsOf(error)
  // Of ours, which has such an error as its cause.
  if (code === 'SVC_UNAVAILABLE') return String(message)
  if (typeof code === 'string') {
    const state = stateOf(code)
    if (state) return state.says
    if (UNREACHABLE_CODES.has(code)) return UNREACHABLE
  }
  if (isTlsError(error)) return 'there is no TLS with the database, try again later'
  return typeof message === 'string' && UNREACHABLE_MESSAGES.test(message) ? UNREACHABLE : undefined
}

const UNREACHABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** How the error of a function begins that was to give the password. */
export const PASSWORD_FAILED = 'the function "password" failed'

/** As pg says it. */
const NO_PASSWORD = /^SASL: .* client password must be a/

/** Of Node: of certificates that it does not trust, and of TLS itself. */
const TLS_CODES =
  /^(ERR_(TLS|SSL|OSSL)_|UNABLE_TO_|CRL_|INVALID_(CA|PURPOSE)$|HOSTNAME_MISMATCH$|EPROTO$)|CERT/

/** Whether TLS with the server cannot begin: a certificate that has expired, or is of another CA. */
export function isTlsError(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return TLS_CODES.test(`${code}`) || / SSL connection/.test(`${message}`)
}

/** There is no server that takes writes, or it is starting or shutting down. */
const NOT_THERE = /^(25006|57P0[1-5])$/

/** Whether the server has something to say that is no matter of a moment. */
export const isAnswer = (error: unknown): boolean => {
  const { code } = (error ?? {}) as { code?: unknown }
  return isTlsError(error) || (isSqlState(code) && !NOT_THERE.test(code))
}

/** pg and pg-pool give these no code. */
const UNREACHABLE_MESSAGES =
  /^(Connection terminated|the function "password" failed|timeout expired|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed)|Cannot use a pool after calling end|Query read timeout)/

/**
 * One sentence for the operator who starts the process. It never contains a password.
 *
 * @param at the address, as it is written in messages
 */
export function whyUnreachable(error: unknown, at: string): string {
  const { code, message } = (error ?? {}) as { code?: string; message?: string }
  const reason = (message || code || 'no reason given').replaceAll(/\s+/g, ' ').trim()
  const advice = 'check the option "database" (by default the secret DATABASE_URL)'
  if (NOT_THERE.test(`${code}`)) {
    return `svcCore: Postgres at ${at} takes no writes at the moment (${reason}): boot again when it does, or ${advice}`
  }
  if (NO_PASSWORD.test(reason)) {
    return `svcCore: Postgres at ${at} asks for a password, and there is none: give it in the connection string, as "password", as PGPASSWORD, or in a password file with the rights 0600: ${advice}`
  }
  if (reason.includes(PASSWORD_FAILED)) {
    return `svcCore: there is no password for Postgres at ${at}: ${reason}: ${advice}`
  }
  if (isTlsError(error)) {
    return `svcCore: there is no TLS with Postgres at ${at}: ${reason}: check sslmode, sslrootcert, sslcert and sslkey, or "ssl", in the option "database" (by default the secret DATABASE_URL)`
  }
  return isSqlState(code) || reason.startsWith('SASL')
    ? `svcCore: Postgres at ${at} answers, but refuses: ${reason}: ${advice}`
    : `svcCore: Postgres cannot be reached at ${at} (${reason}): start it, or ${advice}`
}

/** Such codes come from the server; the system's own are words like ECONNREFUSED. */
export const isSqlState = (code: unknown): code is string =>
  typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code)
