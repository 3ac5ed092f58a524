/**
 * Claims jobs of restricted groups: the next one of an ordered group, or as many as the limits of a
 * group allow. A function of Postgres decides: see sql/021-restricted-groups.sql.
 */
import type { Db } from '../../postgres/transaction.ts'
import { asJob, type Job, type JobRow } from '../job.ts'

/** The report of a process about the grant of an attempt. */
export interface GrantReport {
  grantId: string
  /** How long after the claim of the job its attempt began; `null`: the job was given back. */
  afterMs: number | null
  /** `null` while it runs. */
  tookMs: number | null
}

/** The result of a claim for one group. */
export interface GroupClaimResult {
  group: string
  /** Whether the reports have been read. */
  isTold: boolean
  /** Nothing more until an attempt of the group ends, or another process has done with the group. */
  isBusy: boolean | null
  /** Whether there may be more to claim at once. */
  hasMore?: boolean
  /** When there may be more: by the time alone. */
  waitMs?: number | null
}

/**
 * How soon after the claim the attempt of a granted job must begin. Otherwise the job is given
 * back.
 */
export const BEGINS_WITHIN_MS = 1000

const CLAIM = `select svc."__svc.claim_restricted"($1, $2, $3, $4, $5, $6, $7, $8) as claimed`

/** Claims from each group as many jobs as there is room for and its restrictions allow. */
export async function claimRestricted<Data>(
  db: Db,
  queue: string,
  limits: { group: string; limit: number }[],
  reports: GrantReport[],
  owner: string | null,
): Promise<{ jobs: Job<Data>[]; results: GroupClaimResult[] }> {
  const askedAt = performance.now()
  const { rows } = await db.query(CLAIM, [
    queue,
    limits.map(({ group }) => group),
    limits.map(({ limit }) => limit),
    owner,
    BEGINS_WITHIN_MS,
    reports.map(({ grantId }) => grantId),
    reports.map(({ afterMs }) => afterMs),
    reports.map(({ tookMs }) => tookMs),
  ])
  const { jobs, answers: results } = JSON.parse((rows[0] as { claimed: string }).claimed) as {
    jobs: (JobRow<Data> & { grantId: string | null })[][]
    answers: GroupClaimResult[]
  }
  return {
    jobs: jobs.flat().map((row) => ({ ...asJob(row), grant: { id: row.grantId, askedAt } })),
    results,
  }
}
