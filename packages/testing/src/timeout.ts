import { InvalidOption } from '@svc/core'
import { resolveOptions, type OptionRules } from '@svc/core/internal'

/** The default on machines that are slower than most. */
const VARIABLE = 'SVC_TESTING_TIMEOUT_MS'
const LONGEST_TIMER_MS = 2 ** 31 - 1

const isTimeout = (value: unknown): boolean =>
  typeof value === 'number' && value > 0 && value <= LONGEST_TIMER_MS

const RULES = {
  timeoutMs: { expects: 'a number of milliseconds above 0', is: isTimeout },
} satisfies OptionRules

/** The option `timeoutMs` of what waits. @throws InvalidOption */
export function timeoutOf(caller: string, options: unknown): number {
  const { timeoutMs } = resolveOptions<{ timeoutMs?: number }>(caller, RULES, options)
  return timeoutMs ?? defaultMs()
}

function defaultMs(): number {
  const given = process.env[VARIABLE] ?? '10000'
  if (isTimeout(Number(given))) return Number(given)
  throw new InvalidOption(`${VARIABLE} must be ${RULES.timeoutMs.expects}, got "${given}"`)
}
