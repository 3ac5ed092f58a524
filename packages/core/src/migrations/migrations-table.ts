/** Which migrations have run, of all packages. */
import type { Db } from '../postgres/transaction.ts'

/** The names of an owner's. */
export async function findApplied(db: Db, owner: string): Promise<Set<string>> {
  const { rows: table } = await db.query(
    `select to_regclass('svc."__svc.migrations"') is not null as exists`,
  )
  if (!table[0].exists) return new Set()
  const { rows } = await db.query(`select name from svc."__svc.migrations" where owner = $1`, [
    owner,
  ])
  return new Set(rows.map((row: { name: string }) => row.name))
}

export async function recordApplied(db: Db, owner: string, name: string): Promise<void> {
  await db.query(`insert into svc."__svc.migrations" (owner, name) values ($1, $2)`, [owner, name])
}

export async function createMigrationsTable(db: Db): Promise<void> {
  // `create schema if not exists` needs the right to create even where the schema exists, and
  // `create table if not exists` likewise.
  const { rows } = await db.query(
    `select to_regnamespace('svc') is not null as schema,
            to_regclass('svc."__svc.migrations"') is not null as table`,
  )
  if (!rows[0].schema) await db.query('create schema svc')
  if (rows[0].table) return
  await db.query(`
    create table svc."__svc.migrations" (
      owner text not null,
      name text not null,
      applied_at timestamptz not null default now(),
      primary key (owner, name)
    )`)
}

export const HAND_OVER = 'select svc."__svc.hand_over"()'

/** Gives what this role has made to the owner of the tables, which a login of the day may be a member of. */
export async function handOver(db: Db): Promise<void> {
  await db.query(HAND_OVER)
}

/** The last migration of each owner, by its name. */
export async function findLastMigrations(db: Db): Promise<Record<string, string>> {
  const { rows } = await db.query(
    `select owner, max(name) as last from svc."__svc.migrations" group by 1 order by 1`,
  )
  return Object.fromEntries(rows.map(({ owner, last }) => [owner, last]))
}
