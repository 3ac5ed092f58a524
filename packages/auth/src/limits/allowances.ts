/** The limiter of this process: its clock, its statements, and what it gives back when it closes. */
import { randomUUID } from 'node:crypto'
import { pause, type Db } from '@svc/core/internal'
import { OutageLog, type Log } from '../outage-log.ts'
import { takeAllowances, type Answer, type Batch, type Rule } from '../tables/allowances.ts'
import type { Limit, Plan, Quota, QuotaPeriod } from '../limit-fields.ts'
import { Limiter, type LimitDecision } from './limiter.ts'
import { membersOf, type MeterList } from './meter-list.ts'
import { NO_PLAN } from './plans.ts'

export interface AllowancesParts {
  /** The database for statements that requests wait for. */
  db: Db
  tenantLimits: readonly Limit[]
  /** Of the quotas that plans give to tenants. */
  tenantPeriods: readonly QuotaPeriod[]
  log: Log
  /** Milliseconds of a monotonic clock. @default that of performance.now */
  now?: () => number
}

/** The limits of a key, as its row has them. */
export interface LimitedKey {
  /** Whose allowances it uses: its own id, or that of the key that it was rotated from. */
  allowancesOf: string
  tenant: string | null
  limits: readonly Limit[] | null
  quota: Quota | null
}

const TICK_MS = 500
/** A process that closes gives back what it holds, if Postgres takes it within that time. */
const CLOSE_MS = 1000

export class Allowances {
  readonly limiter: Limiter
  /** The clock that limits and quotas are kept by, in whole milliseconds: V8 keeps fractions beside the object of a meter. */
  readonly now: () => number
  #parts: AllowancesParts
  #outage: OutageLog
  #tick: NodeJS.Timeout | undefined

  constructor(parts: AllowancesParts) {
    this.#parts = parts
    const { now = () => performance.now() } = parts
    this.now = () => Math.floor(now())
    this.#outage = new OutageLog(
      parts.log,
      'could not get allowances from Postgres; requests with limited keys are refused once the allowances held are used up',
      'getting allowances from Postgres works again',
    )
    this.limiter = new Limiter({
      now: this.now,
      schedule: setImmediate,
      newHolder: randomUUID,
      send: (batch, done) => void this.#send(batch, done),
    })
  }

  /** It never rejects: nothing waits for it, and an unhandled rejection would end the process. */
  async #send(batch: Batch, done: (answer: Answer | Error) => void): Promise<void> {
    const answer = await takeAllowances(this.#parts.db, batch).catch(asError)
    try {
      done(answer)
      if (answer instanceof Error) this.#outage.failed(answer)
      else this.#outage.succeeded()
    } catch (error) {
      this.#outage.failed(error)
    }
  }

  /**
   * `null` for a key without limits, so that its requests pay for one comparison. What the key has itself
   * holds in place of what the plan gives to each key; what the plan gives to the tenant holds besides.
   */
  limitsOf(
    { allowancesOf, tenant, limits, quota }: LimitedKey,
    plan: Plan = NO_PLAN,
  ): MeterList | null {
    const rules = rulesOf(allowancesOf, limits ?? plan.keyLimits)
    const ofKey = quotaOf(allowancesOf, quota ?? plan.keyQuota)
    if (tenant === null) return this.limiter.listOf(rules, ofKey)
    const ofTenant = `tenant:${tenant}`
    const { tenantLimits, tenantPeriods } = this.#parts
    rules.push(...rulesOf(ofTenant, tenantLimits), ...rulesOf(ofTenant, plan.tenantLimits))
    const tenantQuota = quotaOf(ofTenant, plan.tenantQuota)
    const periods = tenantPeriods.length > 1 ? tenantPeriods : null
    return this.limiter.listOf(rules, ofKey, tenantQuota && { ...tenantQuota, periods })
  }

  /** Answers at once where an allowance is held, else when Postgres has answered. */
  async check(list: MeterList, cost: number): Promise<LimitDecision> {
    return this.limiter.take(list, cost) ?? this.wait(list, cost)
  }

  /** What is left of the quota, or of the limit of which least is left, as far as this process knows. */
  remaining(limits: MeterList): number {
    const now = this.now()
    const left = counted(limits, now).map(({ meter, terms }) => meter.remaining(terms.limit, now))
    return Math.min(...left)
  }

  /**
   * The same by what all processes have used, for a request that took nothing: this process may not
   * have heard of these limits for long. Where Postgres does not answer it is what this process knows.
   */
  async remainingOfAll(limits: MeterList): Promise<number> {
    const places = counted(limits, this.now()).map(({ meter: { subject }, terms }) => {
      const { period, limit } = terms
      return { ...NOTHING, subject, period, limit }
    })
    // Another holder than that of this process, whose allowances stay as they are.
    const batch = { holder: randomUUID(), lateMs: 0, places, demands: [] }
    const answer = await takeAllowances(this.#parts.db, batch).catch(asError)
    if (answer instanceof Error) return this.remaining(limits)
    const left = counted(limits, this.now()).map(({ meter, terms }, place) =>
      meter.remainingOf(terms.limit, answer.places[place]!.used),
    )
    return Math.min(...left)
  }

  /** Waits for Postgres. To be called after the limiter's `take` has returned `null`. */
  wait(list: MeterList, cost: number): Promise<LimitDecision> {
    return new Promise((resolve) => this.limiter.wait(list, cost, resolve))
  }

  start(): void {
    this.#tick = setInterval(() => this.limiter.sweep(), TICK_MS)
    this.#tick.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#tick)
    const until = performance.now() + CLOSE_MS
    this.limiter.close()
    await this.#settled(until)
    // The allowances of a statement that was under way.
    this.limiter.close()
    await this.#settled(until)
  }

  async #settled(until: number): Promise<void> {
    while (!this.limiter.isSettled && performance.now() < until) {
      await pause(5)
    }
  }
}

/** Requests no allowances, and gives none back. */
const NOTHING = { demanded: false, ahead: 0, held: 0, returned: 0, stamp: 0 }

const rulesOf = (subject: string, limits: readonly Limit[] = []): Rule[] =>
  limits.map(({ limit, perSeconds }) => ({ subject, period: perSeconds, limit }))

const quotaOf = (subject: string, quota: Quota | undefined): Rule | null =>
  quota === undefined ? null : { subject, ...quota }

/** The members that `remaining` looks at: the quotas alone where there are any. */
function counted(limits: MeterList, now: number): MeterList[] {
  const members = membersOf(limits)
  for (const { meter } of members) meter.prune(now)
  return limits.terms.hasQuota ? members.filter(({ terms }) => terms.isQuota) : members
}

/** A pool of the host's may reject with anything. */
const asError = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error(String(reason))
