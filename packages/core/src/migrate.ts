import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'
import { transaction, type Db } from './database.ts'
import type { Hot } from './hot.ts'

/** A migration may rewrite a table, and waits for those that boot at the same time. */
const PATIENCE_MS = 600_000
/** One lock for all packages: ten processes that boot at once on an empty database take turns. */
const LOCK = 7_763_001

/**
 * Runs the files of `folder` that have not run yet, in the order of their names, in one
 * transaction. Forward only: a file that was shipped never changes.
 */
export async function migrate(pool: pg.Pool, owner: string, folder: URL): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  if ((await pendingOf(pool, owner, names)).length === 0) return
  await transaction(
    pool,
    async (db) => {
      await waitForTurn(db)
      await makeRoom(db)
      for (const name of await pendingOf(db, owner, names)) {
        await db.query(await readFile(new URL(name, folder), 'utf8'))
        await db.query(`insert into svc."__svc.migrations" (owner, name) values ($1, $2)`, [
          owner,
          name,
        ])
      }
    },
    { patienceMs: PATIENCE_MS },
  )
}

/** Runs `run`, which asks on other connections, while no other process migrates. */
export function inTurn<T>(hot: Pick<Hot, 'transaction'>, run: () => Promise<T>): Promise<T> {
  return hot.transaction(
    async (db) => {
      await waitForTurn(db)
      return run()
    },
    { patienceMs: PATIENCE_MS },
  )
}

/** Until the end of the transaction. A host's time limits are for its requests. */
async function waitForTurn(db: Db): Promise<void> {
  await db.query(
    `set local statement_timeout = 0; set local lock_timeout = 0;
     set local idle_in_transaction_session_timeout = 0`,
  )
  await db.query('select pg_advisory_xact_lock($1)', [LOCK])
}

async function pendingOf(db: Db, owner: string, names: string[]): Promise<string[]> {
  const { rows: room } = await db.query(
    `select to_regclass('svc."__svc.migrations"') is not null as exists`,
  )
  if (!room[0].exists) return names
  const { rows } = await db.query(`select name from svc."__svc.migrations" where owner = $1`, [
    owner,
  ])
  const done = new Set(rows.map((row: { name: string }) => row.name))
  return names.filter((name) => !done.has(name))
}

async function makeRoom(db: Db): Promise<void> {
  // `create schema if not exists` asks for the right to create even where the schema exists.
  const { rows } = await db.query(`select to_regnamespace('svc') is not null as exists`)
  if (!rows[0].exists) await db.query('create schema svc')
  await db.query(`
    create table if not exists svc."__svc.migrations" (
      owner text not null,
      name text not null,
      applied_at timestamptz not null default now(),
      primary key (owner, name)
    )`)
}
