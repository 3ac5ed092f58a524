/**
 * The schemas of one of several applications in a database. Every statement, function and migration is
 * written for the schemas `svc` and `svc_jobs`, so that a search finds what touches a table. A host with
 * another name has it put in once for each text, where the text goes to Postgres. Values are parameters,
 * and stay as they are.
 */
import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Db } from './db.ts'

export const DEFAULT_SCHEMA = 'svc'

/** A pool for our statements. */
export type StatementPool = Pick<pg.Pool, 'connect' | 'options'> & {
  /** @default those that the statements have */
  names?: SchemaNames | undefined
}

/**
 * What names a schema, a channel or an advisory lock in a text of ours. Names of events (`svc.key.created`),
 * of tables within their schema and of queues (`__svc.webhooks`) are none of these.
 */
const NAMES = new RegExp(
  [
    // svc."__svc.kv", svc.%I
    String.raw`(?<identifier>(?<![\w$".])svc(?=\.["%])|(?<=\bschema )svc\b(?!\.))`,
    // nspname = 'svc', pg_notify('svc.console.changes', …), pg_notify('__svc.auth.keys_changed', …)
    String.raw`(?<literal>(?<=')svc(?=')|(?<=\bpg_notify\('(?:__)?)svc(?=\.))`,
    // svc_jobs.job, 'svc_jobs'
    String.raw`(?<jobs>(?<!\w)svc_jobs(?!\w))`,
    String.raw`(?<lock>\b7763\d{3}\b)`,
  ].join('|'),
  'g',
)

/** The numbers of ADVISORY_LOCKS begin here; those of other schemas have thousands of their own. */
const LOCKS = 7_763_000
const FIRST_OTHER_LOCKS = 8_000_000
const OTHER_LOCKS = 2_000_000

/** Begins a text in which the schema stands already. */
const AS_IS = '/**/'
/** A statement of pg-boss: it knows its schema, and writes names of queues into its texts. */
export const asIs = (text: string): string => AS_IS + text

/** Texts that are remembered: more than there are, unless their names of tables differ without end. */
const MOST_REMEMBERED = 2000

export class SchemaNames {
  readonly schema: string
  readonly jobs: string
  #id: string
  #locks: number
  #statements = new Map<string, string>()
  #onDb = new WeakMap<Db, Db>()

  constructor(schema: string) {
    this.schema = schema
    this.jobs = `${schema}_jobs`
    const hash = createHash('sha256').update(schema).digest()
    this.#id = hash.toString('hex', 0, 8)
    this.#locks = FIRST_OTHER_LOCKS + (hash.readUInt32BE() % OTHER_LOCKS) * 1000
  }

  statement(text: string): string {
    const known = this.#statements.get(text)
    if (known !== undefined) return known
    if (text.startsWith(AS_IS)) return text
    const named = text.replaceAll(NAMES, (name: string, ...rest: unknown[]) => {
      const { identifier, jobs, lock } = rest.at(-1) as Record<string, string | undefined>
      if (identifier) return `"${this.schema}"`
      if (jobs) return this.jobs
      return lock ? String(this.#locks + Number(name) - LOCKS) : this.schema
    })
    if (this.#statements.size < MOST_REMEMBERED) this.#statements.set(text, named)
    return named
  }

  /** The name of a prepared statement: hosts with other schemas may share the connection. */
  prepared(name: string): string {
    return `${name}_${this.#id}`
  }

  channel(name: string): string {
    return name.replace(/^(__)?svc(?=\.)/, `$1${this.schema}`)
  }

  /** The transaction `db` of a caller for our statements, the same for each call. */
  on(db: Db): Db {
    const known = this.#onDb.get(db)
    if (known) return known
    const ours: Db = { query: (text, values) => db.query(this.statement(text), values) }
    this.#onDb.set(db, ours)
    return this.own(ours)
  }

  /** A transaction whose statements are named already. */
  own(db: Db): Db {
    this.#onDb.set(db, db)
    return db
  }
}

/** `undefined` of the default, whose statements go to Postgres as they are. */
export const namesOf = (schema: string): SchemaNames | undefined =>
  schema === DEFAULT_SCHEMA ? undefined : new SchemaNames(schema)
