/** When a failing webhook is reported and disabled: the option of the host, and what follows from it. */
import { InvalidOption } from '@svc/core'
import {
  isIntegerFrom,
  resolveOptions,
  type OptionRules,
  type ResolvedOptions,
} from '@svc/core/internal'

/**
 * When a failing webhook is disabled, and how it is tried again. Times in seconds, 0.1 to 31622400.
 *
 * @example
 * const autoDisable: AutoDisableOptions = { failingForSeconds: 432_000, probeEverySeconds: 3600 }
 */
export interface AutoDisableOptions {
  /** A webhook is disabled when an attempt fails, and all its attempts have failed for this time. */
  failingForSeconds: number
  /** `svc.webhook.failing` is published after this time. @default half of failingForSeconds */
  warnAfterSeconds?: number | undefined
  /** How many of its attempts must have failed before it is disabled. @default 20 */
  minAttempts?: number | undefined
  /**
   * How often a disabled webhook is tried: with a waiting delivery, else with its newest dead letter, else
   * with a test. @default never
   */
  probeEverySeconds?: number | null | undefined
}

/** {@link AutoDisableOptions} with the defaults filled in. */
export type AutoDisable = ResolvedOptions<AutoDisableOptions>

const YEAR_IN_SECONDS = 366 * 24 * 3600
const isTime = (value: unknown): boolean =>
  typeof value === 'number' && value >= 0.1 && value <= YEAR_IN_SECONDS
const expects = 'a number from 0.1 to 31622400 (seconds)'

const rules: OptionRules = {
  failingForSeconds: { expects, is: isTime, required: true },
  warnAfterSeconds: { expects, is: isTime },
  minAttempts: {
    expects: 'an integer from 1 to 1000000',
    is: isIntegerFrom(1, 1_000_000),
    default: 20,
  },
  probeEverySeconds: {
    expects: `${expects}, or null`,
    is: (value) => value === null || isTime(value),
    default: null,
  },
}

/** @throws InvalidOption */
export function resolveAutoDisable(given: unknown): AutoDisable | null {
  if (given === null || given === undefined) return null
  const { warnAfterSeconds, ...rest } = resolveOptions<AutoDisableOptions & AutoDisable>(
    'svcWebhooks',
    rules,
    given,
    'autoDisable.',
  )
  const settled = {
    ...rest,
    warnAfterSeconds: warnAfterSeconds ?? rest.failingForSeconds / 2,
  }
  if (settled.warnAfterSeconds <= settled.failingForSeconds) return settled
  throw new InvalidOption(
    `svcWebhooks: the option "autoDisable.warnAfterSeconds" must be at most failingForSeconds, ${settled.failingForSeconds}, got ${settled.warnAfterSeconds}`,
  )
}

/** What the counted attempts say of a webhook. */
export interface FailingFacts {
  /** From the first failed attempt since the last success to the last one. */
  failingForSeconds: number
  failedAttempts: number
  /** Whether `svc.webhook.failing` was published of it since the last success. */
  isWarned: boolean
}

/** What follows when an attempt of the webhook has failed. A webhook is reported as failing before it is disabled, or with it. */
export const verdictOf = (
  { failingForSeconds, failedAttempts, isWarned }: FailingFacts,
  rules: AutoDisable,
): { warns: boolean; disables: boolean } => ({
  warns: !isWarned && failingForSeconds >= rules.warnAfterSeconds,
  disables: failingForSeconds >= rules.failingForSeconds && failedAttempts >= rules.minAttempts,
})
