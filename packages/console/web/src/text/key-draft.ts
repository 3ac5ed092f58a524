/** The fields of a key's form, and the input of the call that they result in. */
import type { ApiKey, KeyFields, Limit } from '../server/contract.ts'
import { fromLocal, toLocal } from './format.ts'

export interface LimitDraft {
  limit: string
  perSeconds: string
}

export interface KeyDraft {
  label: string
  scopes: string[]
  expiresAt: string
  allowedIps: string
  limits: LimitDraft[]
  quota: string
  period: 'day' | 'month' | 'total'
}

export const MOST_LIMITS = 3

export const emptyKeyDraft: KeyDraft = {
  label: '',
  scopes: [],
  expiresAt: '',
  allowedIps: '',
  limits: [],
  quota: '',
  period: 'day',
}

export const keyDraftOf = (key: ApiKey): KeyDraft => ({
  label: key.label ?? '',
  scopes: key.scopes,
  expiresAt: toLocal(key.expiresAt ?? ''),
  allowedIps: (key.allowedIps ?? []).join('\n'),
  limits: (key.limits ?? []).map(({ limit, perSeconds }) => ({
    limit: String(limit),
    perSeconds: String(perSeconds),
  })),
  quota: key.quota ? String(key.quota.limit) : '',
  period: key.quota?.period ?? 'day',
})

export function readKeyDraft(draft: KeyDraft): { fields: KeyFields } | { mistake: string } {
  const networks = draft.allowedIps.split(/[\s,]+/).filter(Boolean)
  const limits = draft.limits.filter(({ limit, perSeconds }) => limit || perSeconds).map(readLimit)
  const good = limits.filter((limit) => limit !== undefined)
  if (good.length < limits.length) {
    return { mistake: 'A limit needs two whole numbers: how many requests, in how many seconds.' }
  }
  const quota = draft.quota.trim() === '' ? null : whole(draft.quota)
  if (quota === undefined) return { mistake: 'A quota is a whole number of requests.' }
  return {
    fields: {
      label: draft.label.trim() || null,
      scopes: draft.scopes,
      expiresAt: fromLocal(draft.expiresAt) || null,
      allowedIps: networks.length > 0 ? networks : null,
      limits: good.length > 0 ? good : null,
      quota: quota === null ? null : { limit: quota, period: draft.period },
    },
  }
}

function readLimit({ limit, perSeconds }: LimitDraft): Limit | undefined {
  const [many, seconds] = [whole(limit), whole(perSeconds)]
  return many === undefined || seconds === undefined
    ? undefined
    : { limit: many, perSeconds: seconds }
}

const whole = (text: string): number | undefined =>
  /^\d+$/.test(text.trim()) && Number(text) > 0 ? Number(text) : undefined

/** The fields that differ. An expiry that was not edited keeps its seconds. */
export function keyChanges(before: KeyDraft, after: KeyFields): KeyFields {
  const old = readKeyDraft(before)
  if (!('fields' in old)) return after
  return Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) =>
        JSON.stringify(value) !== JSON.stringify(old.fields[name as keyof KeyFields]),
    ),
  )
}
