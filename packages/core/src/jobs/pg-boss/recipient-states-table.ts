/** The table of recipients whose jobs wait aside, or did so a while ago. */
import type { Db } from '../../postgres/transaction.ts'

export interface RecipientRow {
  recipient: string
  held: boolean
  /** Whether its circuit is open: its last attempts failed. */
  circuitOpen: boolean
  /** The transaction in which it was held, released or restricted last, or its circuit changed. */
  changedBy: string
  restricted: boolean
  rateSeconds: number | null
  /** Attempts at a time over all processes, where that is restricted. */
  maxInFlight: number | null
  /**
   * Whether its jobs run one at a time, the oldest first, and at any rate: then the settlement of one
   * may claim the next. A recipient with an order and a rate does not have this.
   */
  ordered: boolean
}

/** Those that have changed since `seen` of an earlier call, or perhaps did so then; `null`: all. */
export async function listRecipients(
  db: Db,
  queue: string,
  seen: string | null,
): Promise<{ rows: RecipientRow[]; seen: string }> {
  const { rows } = await db.query(
    `select pg_snapshot_xmin(pg_current_snapshot())::text as seen,
            (select json_agg(json_build_object(
               'recipient', recipient, 'held', held, 'circuitOpen', circuit_open,
               'changedBy', changed_by::text, 'restricted', restricted, 'rateSeconds', rate_seconds,
               'maxInFlight', case when ordered then 1 else max_in_flight end,
               'ordered', ordered and rate_limit is null))::text
               from svc."__svc.recipient_states"
              where queue = $1 and ($2::xid8 is null or changed_by >= $2::xid8)
                -- Rows that were restored from a dump name transactions of another server.
                and ($2::xid8 is null or changed_by < pg_snapshot_xmax(pg_current_snapshot()))) as rows`,
    [queue, seen],
  )
  const [answer] = rows as [{ seen: string; rows: string | null }]
  return { rows: answer.rows === null ? [] : JSON.parse(answer.rows), seen: answer.seen }
}

/** From the commit on no job of these recipients starts (`held`), or their jobs go on. */
export async function setHeld(
  db: Db,
  queue: string,
  recipients: readonly string[],
  held: boolean,
): Promise<void> {
  if (recipients.length === 0) return
  await db.query(
    `insert into svc."__svc.recipient_states" as known (queue, recipient, held)
     select $1, recipient, $3 from unnest($2::text[]) as recipient order by recipient
     on conflict (queue, recipient) do update
       -- A released recipient starts with a closed circuit.
       set held = excluded.held, changed_by = pg_current_xact_id(),
           circuit_open = known.circuit_open and excluded.held`,
    [queue, recipients, held],
  )
}

/** Opens circuits (`true`) and closes them. */
export async function setCircuits(
  db: Db,
  queue: string,
  circuits: readonly (readonly [recipient: string, isOpen: boolean])[],
): Promise<void> {
  await db.query(
    `insert into svc."__svc.recipient_states" (queue, recipient, circuit_open)
     select $1, recipient, is_open
       from unnest($2::text[], $3::boolean[]) as given (recipient, is_open) order by recipient
     on conflict (queue, recipient) do update
       set circuit_open = excluded.circuit_open, changed_by = pg_current_xact_id()`,
    [queue, circuits.map(([recipient]) => recipient), circuits.map(([, isOpen]) => isOpen)],
  )
}

/**
 * Deletes the rows that say nothing any more, of recipients that have no jobs of the lane aside. Returns the recipients that have no
 * row now. A transaction of its own: rows are locked before it looks for jobs, since those that put jobs aside keep
 * the row locked until their commit, and those that begin meanwhile wait, and see none.
 */
export async function deleteUnusedRecipients(
  db: Db,
  queue: string,
  recipients: string[],
): Promise<string[]> {
  if (recipients.length === 0) return []
  const { rows: locked } = await db.query(
    `select recipient from svc."__svc.recipient_states"
      where queue = $1 and recipient = any($2::text[])
        and not held and not circuit_open and not restricted
        for update skip locked`,
    [queue, recipients],
  )
  const { rows } = await db.query(
    `with deleted as (
       delete from svc."__svc.recipient_states" as known
        where known.queue = $1 and known.recipient = any($2::text[])
          -- Not as an anti-join: the plan for an empty table would scan all jobs. The indexes of jobs have
          -- the default collation.
          and (select true from svc_jobs.job
                where job.name = $1 and job.priority = -2
                  and job.singleton_key = known.recipient collate "default"
                  and job.blocked and job.state < 'active' limit 1) is null
          -- They may come back to where they were.
          and (select true from svc_jobs.job
                where job.name = $1 and job.priority = -2
                  and job.group_id = known.recipient collate "default"
                  and job.state = 'active' limit 1) is null
       returning known.recipient
     )
     select asked.recipient from unnest($3::text[]) as asked (recipient)
      where asked.recipient in (select recipient from deleted)
         or (select true from svc."__svc.recipient_states" as known
              where known.queue = $1 and known.recipient = asked.recipient) is null`,
    [queue, (locked as { recipient: string }[]).map(({ recipient }) => recipient), recipients],
  )
  return rows.map(({ recipient }: { recipient: string }) => recipient)
}

export async function deleteRecipients(
  db: Db,
  queue: string,
  recipients: readonly string[],
): Promise<void> {
  await db.query(
    `with work as (
       delete from svc."__svc.work" where queue = $1 and recipient = any($2::text[])
     ), permits as (
       delete from svc."__svc.attempt_permits" where queue = $1 and recipient = any($2::text[])
     )
     delete from svc."__svc.recipient_states" where queue = $1 and recipient = any($2::text[])`,
    [queue, recipients],
  )
}

/**
 * The restrictions of a recipient's attempts; `null` for one that is not set. They hold over all processes. The package
 * whose recipients they are sets them, by the function "__svc.restrict_recipient".
 */
export interface Restrictions {
  /** The rate: at most `limit` attempts begin in any span of `perSeconds`. */
  rateLimit: { limit: number; perSeconds: number } | null
  maxInFlight: number | null
  /** One job at a time, the oldest first. One that waits for its next attempt holds the others. */
  ordered: boolean
}

export const isRestricted = ({ rateLimit, maxInFlight, ordered }: Restrictions): boolean =>
  rateLimit !== null || maxInFlight !== null || ordered

/** Deletes permits that no rate counts any more: the longest span is a day. */
export async function sweepPermits(db: Db): Promise<void> {
  await db.query(
    `delete from svc."__svc.attempt_permits" where begun_by < now() - interval '2 days'`,
  )
}
