/**
 * Claims jobs of restricted recipients: the next one of an ordered recipient, or as many as the limits of a
 * recipient allow. The function "__svc.claim_restricted" of Postgres decides.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { Job } from '../job.ts'
import { asJob, type JobRow } from './jobs-table.ts'

export interface PermitReport {
  permitId: string
  /** How long after the claim of the job its attempt began; `null`: the job was given back. */
  afterMs: number | null
  tookMs: number | null
}

export interface RecipientClaimResult {
  recipient: string
  /** Whether the reports have been read. */
  isTold: boolean
  /** Nothing more until an attempt of the recipient ends, or another process has done with the recipient. */
  isBusy: boolean | null
  hasMore?: boolean
  /** When there may be more: by the time alone. */
  waitMs?: number | null
}

/**
 * How soon after the claim the attempt of a permitted job must begin. Otherwise the job is given
 * back.
 */
export const BEGINS_WITHIN_MS = 1000

const CLAIM = `select svc."__svc.claim_restricted"($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

/**
 * The claim, and what a worker needs of the job where it is the only one, as at ordinary rates. Several
 * jobs mostly share what they need, which is then read for all of them together.
 */
const claimAndRead = (read: string): string => `
  with claim as materialized (
    select claimed, claimed::json -> 'jobs' as jobs from (${CLAIM} as claimed) as called
  )
  select claimed,
         case when json_array_length(jobs) = 1 and json_array_length(jobs -> 0) = 1
              then svc."${read}"(jobs -> 0 -> 0 -> 'data')::text end as read
    from claim`

interface Claim {
  queue: string
  /** How many jobs of which recipients there is room for. */
  limits: { recipient: string; limit: number }[]
  reports: PermitReport[]
  /** Jobs of this process that are done and not settled: they do not count as attempts. */
  endedJobs: string[]
  owner: string
  read?: string | undefined
  /** The recipients are held. */
  areProbes?: boolean
}

/** Claims from each recipient as many jobs as there is room for and its restrictions allow. */
export async function claimRestricted<Data>(
  db: Db,
  { queue, limits, reports, endedJobs, owner, read, areProbes = false }: Claim,
): Promise<{ jobs: Job<Data>[]; results: RecipientClaimResult[] }> {
  const askedAt = performance.now()
  const { rows } = await db.query(read === undefined ? `${CLAIM} as claimed` : claimAndRead(read), [
    queue,
    limits.map(({ recipient }) => recipient),
    limits.map(({ limit }) => limit),
    owner,
    BEGINS_WITHIN_MS,
    reports.map(({ permitId }) => permitId),
    reports.map(({ afterMs }) => afterMs),
    reports.map(({ tookMs }) => tookMs),
    endedJobs,
    areProbes,
  ])
  const [answer] = rows as [{ claimed: string; read?: string | null }]
  const { jobs, answers } = JSON.parse(answer.claimed) as {
    jobs: (JobRow<Data> & { isRestricted: boolean; permitId: string | null })[][]
    answers: RecipientClaimResult[]
  }
  const its = typeof answer.read === 'string' ? { read: JSON.parse(answer.read) as unknown } : {}
  return {
    jobs: jobs.flat().map((row) => ({
      ...asJob(row),
      ...(row.isRestricted && { permit: { id: row.permitId, askedAt } }),
      ...its,
    })),
    results: answers,
  }
}

/**
 * Claims a job of a held recipient: the oldest one of an ordered recipient or none, of others the one that is due
 * first, also where it is not due yet. What restricts the recipient holds for a probe too: another attempt may be
 * under way since before it was held, and the rate counts the probe.
 */
export async function claimProbe<Data>(
  db: Db,
  queue: string,
  recipient: string,
  owner: string,
): Promise<Job<Data> | undefined> {
  const limits = [{ recipient, limit: 1 }]
  const claim = { queue, limits, reports: [], endedJobs: [], owner, areProbes: true }
  const { jobs } = await claimRestricted<Data>(db, claim)
  return jobs[0] && { ...jobs[0], isProbe: true }
}
