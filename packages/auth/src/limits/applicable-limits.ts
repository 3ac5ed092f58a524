/** Which limits apply to a key: its own limits and quota, and the limits of its tenant. */
import type { Limit, Quota } from '../limit-fields.ts'
import type { Rule } from '../tables/allowance-terms.ts'

export const keyRules = (id: string, limits: readonly Limit[] | null): Rule[] =>
  (limits ?? []).map(({ limit, perSeconds }) => ({
    subject: `key:${id}`,
    period: perSeconds,
    limit,
  }))

export const tenantRules = (tenant: string | null, limits: readonly Limit[]): Rule[] =>
  tenant === null
    ? []
    : limits.map(({ limit, perSeconds }) => ({
        subject: `tenant:${tenant}`,
        period: perSeconds,
        limit,
      }))

export const quotaRule = (id: string, quota: Quota | null): Rule | null =>
  quota && { subject: `key:${id}`, ...quota }
