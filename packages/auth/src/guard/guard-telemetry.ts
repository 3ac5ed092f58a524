/** Metrics of the guard. Each set of attributes is made once: a request that is let through makes none. */
import type { Counter, Meter } from '@svc/core/internal'
import type { AuthFailure } from './auth-failure.ts'

type Decision = 'allowed' | 'open' | AuthFailure['verdict']

export class GuardTelemetry {
  #decisions: Counter
  #lookups: Counter
  #attributes = new Map<string, Record<string, string | number>>()

  constructor(meter: Meter) {
    this.#decisions = meter.createCounter('svc.guard.decisions', {
      unit: '{request}',
      description: 'Requests that the guard let through or refused.',
    })
    this.#lookups = meter.createCounter('svc.guard.cache.lookups', {
      unit: '{lookup}',
      description: 'Whether a presented key was decided about without Postgres.',
    })
  }

  allowed(): void {
    this.#decisions.add(1, ALLOWED)
  }

  /** The request needs no key. */
  open(): void {
    this.#decisions.add(1, OPEN)
  }

  refused(verdict: AuthFailure['verdict'], statusCode: number): void {
    let attributes = this.#attributes.get(verdict)
    if (!attributes) {
      attributes = { ...decision(verdict), 'http.response.status_code': statusCode }
      this.#attributes.set(verdict, attributes)
    }
    this.#decisions.add(1, attributes)
  }

  hit(): void {
    this.#lookups.add(1, HIT)
  }

  miss(): void {
    this.#lookups.add(1, MISS)
  }
}

const decision = (name: Decision) => ({ 'svc.guard.decision': name.replaceAll(' ', '_') })

const ALLOWED = decision('allowed')
const OPEN = decision('open')
const HIT = { 'svc.guard.cache.result': 'hit' }
const MISS = { 'svc.guard.cache.result': 'miss' }
