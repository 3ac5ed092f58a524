import { createError } from './create-error.ts'

/**
 * An option has the wrong type, is out of range or does not exist: of a plugin (thrown at boot), of
 * `svc.events` or of `svc.transaction`.
 */
export const InvalidOption = createError<[string]>('SVC_CORE_INVALID_OPTION', '%s', 500)

/** Postgres did not answer, refused the connection or takes no writes. Thrown at boot. */
export const DatabaseUnreachable = createError<[string]>('SVC_CORE_DATABASE_UNREACHABLE', '%s', 500)

/** The server is older than the oldest Postgres that is supported. Thrown at boot. */
export const DatabaseTooOld = createError<[string]>(
  'SVC_CORE_DATABASE_TOO_OLD',
  'svcCore needs Postgres 15 or newer, this server is %s: upgrade it, or point the option "database" at a newer one',
  500,
)

/** Text in it cannot hold all characters. Thrown at boot. */
export const DatabaseNotUtf8 = createError<[string]>(
  'SVC_CORE_DATABASE_NOT_UTF8',
  'svcCore needs a database with the encoding UTF8, this one has %s: create one with `create database … encoding \'UTF8\' template template0`, or point the option "database" at one',
  500,
)

/**
 * The database has Citus, and our tables cannot be local ones of its coordinator: the message names what is
 * in the way, and what to do. Thrown at boot.
 */
export const CitusUnusable = createError<[string]>('SVC_CORE_CITUS_UNUSABLE', '%s', 500)

/** The role may not do what the boot needs; the message names the right. Thrown at boot. */
export const RightsMissing = createError<[string]>('SVC_CORE_RIGHTS_MISSING', '%s', 500)

/** A table or queue is missing, and the option `migrate` is `'check'`. Thrown at boot. */
export const SchemaMissing = createError<[string]>('SVC_CORE_SCHEMA_MISSING', '%s', 500)

/**
 * The tables of pg-boss are not those that our statements were written for: the message names what
 * differs, and what to do. Thrown at boot.
 */
export const JobsSchemaDiffers = createError<[string]>('SVC_CORE_JOBS_SCHEMA_DIFFERS', '%s', 500)

/** A later version has changed the tables so that this one cannot use them. Thrown at boot. */
export const SchemaTooNew = createError<[string]>('SVC_CORE_SCHEMA_TOO_NEW', '%s', 500)

/** A migration could not get a lock, or its turn, for ten minutes. Thrown at boot. */
export const MigrationBlocked = createError<[string]>('SVC_CORE_MIGRATION_BLOCKED', '%s', 500)

/** Postgres is not available at the moment. */
export const Unavailable = createError<[{ cause: unknown }]>(
  'SVC_UNAVAILABLE',
  'the database cannot be reached, try again',
  503,
)

/** A list was not searched to its end in time. */
export const ListTooLong = createError(
  'SVC_LIST_TOO_LONG',
  'the list could not be read within 5 seconds: ask for less of it, by more filters or a shorter span',
  503,
)

/** `close()` of `createSvc` was called before. */
export const Closed = createError(
  'SVC_CLOSED',
  'svc is closed: make another one with createSvc',
  503,
)

/** Postgres refused a statement of ours. The error of pg, which may quote rows, is its cause. */
export const DatabaseFailed = createError<[string, { cause: unknown }]>(
  'SVC_CORE_DATABASE_FAILED',
  'the database refused a statement of svc with the SQLSTATE %s: the cause of this error says why',
  500,
)

/** As many calls of a tenant are under way in this process as it may have, or all connections of reads are taken. */
export const Busy = createError<['reads' | 'changes']>(
  'SVC_BUSY',
  'too many %s are under way: wait for their answers, and try again',
  429,
)

/** `actions.call` was given a name that is not registered. */
export const ActionUnknown = createError<[string, string]>(
  'SVC_CORE_ACTION_UNKNOWN',
  'there is no action "%s"; there are: %s',
  500,
)

/** `actions.register` was given a name that is taken. */
export const ActionTaken = createError<[string]>(
  'SVC_CORE_ACTION_TAKEN',
  'the action "%s" is registered already',
  500,
)

/** `actions.register` was called with something that is not a name or not a handler. */
export const InvalidAction = createError<[string, string]>(
  'SVC_CORE_INVALID_ACTION',
  'actions.register takes a name and a function, got %s and %s',
  500,
)

/** A key with a tenant names another one, or a key is made for another tenant than its user's. */
export const ForeignTenant = createError(
  'SVC_FOREIGN_TENANT',
  'the field tenant names another tenant than that of the caller, or of the user: leave it out',
  403,
)

/** `svc.eraseTenant` in a host that lacks a package whose tables are in the database. */
export const IncompleteHost = createError<[string]>(
  'SVC_CORE_INCOMPLETE_HOST',
  'svc.eraseTenant: this database has tables of %s, which this host has not registered, so that rows of the tenant would stay in them: call it in a host with all of them',
  500,
)

/** Input that the schema of an action or a route refuses. */
export const InvalidInput = createError<[string]>('SVC_INVALID_INPUT', '%s', 400)

/** An event name that does not match `[A-Za-z0-9_.\-/]{1,200}`. */
export const InvalidEventName = createError<[string]>(
  'SVC_CORE_INVALID_EVENT_NAME',
  'an event name is 1 to 200 letters, digits, "_", ".", "-" or "/", got %s',
  500,
)

/** The filter of a recipient is not one; the message names the spot. */
export const InvalidFilter = createError<[string]>('SVC_CORE_INVALID_FILTER', '%s', 400)

/** A host publishes or defines an event whose name begins with `svc.`: those are ours. */
export const ReservedEventName = createError<[string]>(
  'SVC_CORE_RESERVED_EVENT_NAME',
  'events whose names begin with "svc." are published by svc itself: give "%s" another name',
  500,
)

/** A publish `id` that is not a string of 1 to 255 characters. */
export const InvalidEventId = createError<[string]>(
  'SVC_CORE_INVALID_EVENT_ID',
  'the id of an event is a string of 1 to 255 characters, without NUL or half a surrogate pair, got %s',
  500,
)

/** A payload that has no JSON text (`undefined`, a function, a cycle, a bigint). */
export const InvalidPayload = createError<[string]>(
  'SVC_CORE_INVALID_PAYLOAD',
  'a payload must be something that JSON can write: %s',
  500,
)

/** A payload that does not match the schema of its event; the message names the path that fails. */
export const PayloadMismatch = createError<[string, string]>(
  'SVC_INVALID_PAYLOAD',
  'the payload of the event "%s" does not match its schema: %s',
  500,
)

/** The option `db` of a publish or of an operation is not a client inside a transaction. */
export const NoTransaction = createError<[string, string, string]>(
  'SVC_CORE_NO_TRANSACTION',
  '%s: the option "db" must be a client inside a transaction, or an object with query(text, values) that runs in one, got %s: %s, or leave it out',
  500,
)

/**
 * `svc.transaction` within another one, a use of its `db` after its end, a publish in it that was
 * not awaited, or a `commit` or `rollback` that is not its own. Nothing of it is committed, save by
 * such a `commit`.
 */
export const InvalidTransaction = createError<[string]>('SVC_CORE_INVALID_TRANSACTION', '%s', 500)

/** A statement in a transaction failed, its error was caught, and Postgres refused the commit. */
export const TransactionRolledBack = createError(
  'SVC_CORE_TRANSACTION_ROLLED_BACK',
  'the transaction was rolled back instead of committed, since a statement in it failed and its error was caught: rethrow the error, or put the statement behind a savepoint',
  500,
)

/** `drain` of the testing kit: the time is up, and the message names what still waits. */
export const NotDrained = createError<[number, string]>(
  'SVC_CORE_NOT_DRAINED',
  'drain: after %s ms there are still: %s',
  500,
)

/** A second subscription of one name in a process. */
export const SubscriptionTaken = createError<[string]>(
  'SVC_CORE_SUBSCRIPTION_TAKEN',
  'there is a subscription "%s" in this process already: give this one a name of its own with the option "subscription"',
  500,
)

/** A plugin of ours was registered twice in one host, or the host has a decorator `svc` of its own. */
export const AlreadyRegistered = createError<[string]>('SVC_CORE_ALREADY_REGISTERED', '%s', 500)

/** Two of our packages, or two copies of core, have different versions. Thrown at boot. */
export const VersionsDiffer = createError<[string]>('SVC_CORE_VERSIONS_DIFFER', '%s', 500)

/** `events.subscribe` was called with something that is not a handler, a name or an option. */
export const InvalidSubscription = createError<[string]>('SVC_CORE_INVALID_SUBSCRIPTION', '%s', 500)

/** A key, value, TTL or number that the key-value store cannot take. */
export const InvalidEntry = createError<[string]>('SVC_CORE_INVALID_ENTRY', '%s', 500)

/** The option `secrets` gave a secret that is neither text nor null. */
export const InvalidSecret = createError<[string, string]>(
  'SVC_CORE_INVALID_SECRET',
  'the secret "%s" must be a string or null, the option "secrets" gave %s',
  500,
)

/**
 * An encrypted text in the database that this host cannot decrypt. The message names it and the
 * reason.
 */
export const DecryptionFailed = createError<[string, string, { cause: unknown }?]>(
  'SVC_CORE_DECRYPTION_FAILED',
  'the %s cannot be decrypted: %s',
  500,
)
