/**
 * Which plan a tenant has, by the host's `planOf`. An answer is remembered for a minute, and until a change is
 * reported. Where `planOf` gives no answer, the last answer holds for an hour, then the plan `default`. Without either
 * the requests of the tenant are refused.
 */
import { within } from '@svc/core/internal'
import { PlanUnknown } from '../errors.ts'
import type { Plan } from '../limit-fields.ts'
import { RareLog, type Log } from '../outage-log.ts'

/** The plan of a tenant by its name; `null` for the plan `default`, or for none. */
export type PlanOf = (tenant: string) => string | null | Promise<string | null>

/** The plan of a tenant, which its keys share. */
export interface TenantPlan {
  /** `null` where the tenant has none. */
  readonly name: string | null
  readonly plan: Plan
  /** While it is false, `Plans` is asked before the plan is used. */
  isCurrent: boolean
}

export interface PlansParts {
  plans: Readonly<Record<string, Plan>>
  planOf: PlanOf
  log: Log
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

interface Answer {
  readonly plan: TenantPlan
  /** When it was asked for. */
  readonly at: number
}

interface Asking {
  readonly answer: Promise<TenantPlan>
  /** A change was told of, perhaps after the host has read the plan. */
  isStale: boolean
}

interface Failure {
  /** When the host is asked again. */
  readonly retryAt: number
  readonly fallback: TenantPlan | null
}

/** A second less than a minute: the sweep comes once a second. */
const REMEMBERED_MS = 59_000
const SWEEP_MS = 1000
const LAST_KNOWN_MS = 3600_000
const LONGEST_ANSWER_MS = 2000
const RETRY_MS = 1000
const DEFAULT = 'default'

export const NO_PLAN: Plan = {}

/** That of a key whose tenant was not asked for yet. */
export const UNASKED: TenantPlan = { name: null, plan: NO_PLAN, isCurrent: false }

export class Plans {
  #parts: PlansParts
  #log: RareLog
  /** The answers that hold. Both maps have the oldest first. */
  #current = new Map<string, Answer>()
  /** The last answers, each for the hour in which it replaces one that does not come. */
  #former = new Map<string, Answer>()
  #asking = new Map<string, Asking>()
  #failures = new Map<string, Failure>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: PlansParts) {
    this.#parts = parts
    const message =
      'the plan of a tenant is not known: the last answer holds for an hour, unless the plan has changed since, then the plan "default" where there is one'
    this.#log = new RareLog(parts.log, message, parts.now)
  }

  /** At once where it is known. @throws PlanUnknown, also by its promise */
  of(tenant: string): TenantPlan | Promise<TenantPlan> {
    const known = this.#current.get(tenant)
    if (known) return known.plan
    const failure = this.#failures.get(tenant)
    if (failure === undefined) return this.#answerOf(tenant)
    const isDue = this.#parts.now() >= failure.retryAt
    const fallback = this.#fallbackOf(tenant)
    if (fallback === null) {
      if (isDue) return this.#answerOf(tenant)
      throw new PlanUnknown()
    }
    // No request waits for a host that does not answer.
    if (isDue) this.#answerOf(tenant).catch(() => {})
    return fallback
  }

  /** The plan of the tenant has changed. What was known of it stands in for no answer. */
  forget(tenant: string): void {
    for (const answers of [this.#current, this.#former]) {
      const known = answers.get(tenant)
      if (known) known.plan.isCurrent = false
      answers.delete(tenant)
    }
    this.#failures.delete(tenant)
    const asking = this.#asking.get(tenant)
    if (asking) asking.isStale = true
  }

  /** Plans may have changed, nobody knows whose: all are asked for again. */
  forgetAll(): void {
    for (const tenant of this.#current.keys()) this.#age(tenant)
    for (const asking of this.#asking.values()) asking.isStale = true
  }

  /** Ends what was remembered for a minute, and forgets what was known an hour ago. */
  sweep(): void {
    const now = this.#parts.now()
    for (const [tenant, { at }] of this.#current) {
      if (now - at < REMEMBERED_MS) break
      this.#age(tenant)
    }
    for (const [tenant, { at }] of this.#former) {
      if (now - at < LAST_KNOWN_MS) break
      this.#former.delete(tenant)
    }
    for (const [tenant, { retryAt }] of this.#failures) {
      if (now - retryAt < LAST_KNOWN_MS) break
      this.#failures.delete(tenant)
    }
  }

  start(): void {
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #age(tenant: string): void {
    const answer = this.#current.get(tenant)
    if (!answer) return
    answer.plan.isCurrent = false
    this.#current.delete(tenant)
    this.#former.set(tenant, answer)
  }

  /** Requests of one tenant share a question. */
  #answerOf(tenant: string): Promise<TenantPlan> {
    const known = this.#asking.get(tenant)
    if (known) return known.answer
    const { promise, resolve, reject } = Promise.withResolvers<TenantPlan>()
    const asking: Asking = { answer: promise, isStale: false }
    this.#asking.set(tenant, asking)
    this.#ask(tenant, asking)
      .finally(() => this.#asking.delete(tenant))
      .then(resolve, reject)
    return promise
  }

  async #ask(tenant: string, asking: Asking): Promise<TenantPlan> {
    const { now } = this.#parts
    // However often the plan changes meanwhile, a request is decided.
    const lastAt = now() + LONGEST_ANSWER_MS
    for (;;) {
      asking.isStale = false
      const at = now()
      try {
        const name = await this.#nameOf(tenant)
        if (!asking.isStale) return this.#learn(tenant, name, at)
        if (now() >= lastAt) throw new Error('the plan has changed again while it was asked for')
      } catch (error) {
        if (!asking.isStale || now() >= lastAt) return this.#fail(tenant, error)
      }
    }
  }

  /** @throws where the host names no plan of its options, or does not answer in time */
  async #nameOf(tenant: string): Promise<string | null> {
    const { plans, planOf } = this.#parts
    // It may throw at once, and return anything.
    const answer = (async () => planOf(tenant))()
    const name: unknown = await within(LONGEST_ANSWER_MS, answer, () => {
      throw new Error(`planOf did not answer within ${LONGEST_ANSWER_MS} ms`)
    })
    if (name === null) return Object.hasOwn(plans, DEFAULT) ? DEFAULT : null
    if (typeof name === 'string' && Object.hasOwn(plans, name)) return name
    const given = typeof name === 'string' ? JSON.stringify(name.slice(0, 100)) : `a ${typeof name}`
    throw new Error(`planOf named ${given}, which is no plan of the option "plans", nor null`)
  }

  /** Keys that have the plan go on with it where the answer is the same as before. */
  #learn(tenant: string, name: string | null, at: number): TenantPlan {
    const last = this.#former.get(tenant)?.plan
    const plan = last?.name === name ? last : this.#tenantPlan(name)
    plan.isCurrent = true
    this.#former.delete(tenant)
    this.#failures.delete(tenant)
    this.#current.set(tenant, { plan, at })
    return plan
  }

  #fail(tenant: string, error: unknown): TenantPlan {
    const reason = error instanceof Error ? error.message : String(error)
    this.#log.warn({ tenant, reason })
    const fallback = Object.hasOwn(this.#parts.plans, DEFAULT) ? this.#tenantPlan(DEFAULT) : null
    const before = this.#failures.get(tenant)?.fallback
    const retryAt = this.#parts.now() + RETRY_MS
    // The oldest come first.
    this.#failures.delete(tenant)
    this.#failures.set(tenant, { retryAt, fallback: before ?? fallback })
    const plan = this.#fallbackOf(tenant)
    if (plan === null) throw new PlanUnknown()
    return plan
  }

  /** What stands in for an answer; `null` where nothing does. */
  #fallbackOf(tenant: string): TenantPlan | null {
    const last = this.#former.get(tenant)
    if (last && this.#parts.now() - last.at < LAST_KNOWN_MS) return last.plan
    return this.#failures.get(tenant)?.fallback ?? null
  }

  #tenantPlan(name: string | null): TenantPlan {
    const plan = name === null ? NO_PLAN : (this.#parts.plans[name] as Plan)
    return { name, plan, isCurrent: false }
  }
}
