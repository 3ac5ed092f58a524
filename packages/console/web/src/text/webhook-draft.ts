/** The fields of a webhook's form, and the input of the call that they result in. */
import type { Webhook, WebhookSettings } from '../server/contract.ts'

export interface Draft {
  url: string
  events: string[]
  label: string
  tenant: string
  description: string
  filter: string
  headers: string
  metadata: string
  timeoutMs: string
  maxAttempts: string
  delaysSeconds: string
  rateLimit: string
  ratePerSeconds: string
  maxInFlight: string
  ordered: boolean
  transform: string
}

export type Mistakes = Partial<Record<keyof Draft, string>>
type Body = { url: string | null; events: string[]; tenant?: string } & WebhookSettings

export const emptyDraft: Draft = {
  url: '',
  events: [],
  label: '',
  tenant: '',
  description: '',
  filter: '',
  headers: '',
  metadata: '',
  timeoutMs: '',
  maxAttempts: '',
  delaysSeconds: '',
  rateLimit: '',
  ratePerSeconds: '',
  maxInFlight: '',
  ordered: false,
  transform: '',
}

const text = (value: number | string | null | undefined) => (value ?? '').toString()
const lines = (of: Record<string, string> | null) =>
  Object.entries(of ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

export const draftOf = (webhook: Webhook, headers: Record<string, string> | null): Draft => ({
  url: webhook.url ?? '',
  events: webhook.events,
  label: text(webhook.label),
  tenant: text(webhook.tenant),
  description: text(webhook.description),
  filter: webhook.filter ? JSON.stringify(webhook.filter, null, 2) : '',
  headers: lines(headers),
  metadata: lines(webhook.metadata),
  timeoutMs: text(webhook.timeoutMs),
  maxAttempts: text(webhook.retry?.maxAttempts),
  delaysSeconds: (webhook.retry?.delaysSeconds ?? []).join(', '),
  rateLimit: text(webhook.rateLimit?.limit),
  ratePerSeconds: text(webhook.rateLimit?.perSeconds),
  maxInFlight: text(webhook.maxInFlight),
  ordered: webhook.ordered,
  transform: text(webhook.transform),
})

/** The filter's object, `null` for an empty text, or what is wrong with it. */
export function parsedFilter(
  filter: string,
): { filter: Record<string, unknown> | null } | { mistake: string } {
  if (filter.trim() === '') return { filter: null }
  try {
    const value: unknown = JSON.parse(filter)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { filter: value as Record<string, unknown> }
    }
    return { mistake: 'A filter is a JSON object: { "payload": { "total": { "$gt": 100 } } }' }
  } catch (error) {
    return { mistake: `This is not JSON: ${(error as Error).message}` }
  }
}

/** The events to choose from, after what several of their names begin with, and what is chosen already. */
export function eventChoices(
  events: readonly {
    name: string
    description?: string | null | undefined
    deprecated?: boolean
  }[],
  chosen: readonly string[],
): { value: string; hint: string | undefined }[] {
  const beginnings = events.flatMap(({ name }) =>
    [...name.matchAll(/(?<=.)\./g)].map(({ index }) => `${name.slice(0, index)}.*`),
  )
  const shared = beginnings.filter((one, at) => beginnings.indexOf(one) < at)
  const named = new Set(events.map(({ name }) => name))
  const patterns = new Set([...shared, ...chosen.filter((one) => one !== '*' && !named.has(one))])
  return [
    ...[...patterns].toSorted().map((value) => ({
      value,
      hint: value.endsWith('.*')
        ? `All that begin with ${value.slice(0, -1)} – also those that are added later.`
        : undefined,
    })),
    ...events.map(({ name, description, deprecated = false }) => ({
      value: name,
      hint: [deprecated && 'Deprecated.', description].filter(Boolean).join(' ') || undefined,
    })),
  ]
}

/** The settings of the draft, or what is wrong with which field. */
export function readDraft(draft: Draft): { body: Body } | { mistakes: Mistakes } {
  const mistakes: Mistakes = {}
  const whole = (name: keyof Draft, value: string) => {
    if (value.trim() === '') return null
    if (/^\d+$/.test(value.trim())) return Number(value)
    mistakes[name] = 'Give a whole number, or leave it empty.'
    return null
  }
  if (draft.url.trim() !== '' && !/^https?:\/\/./i.test(draft.url))
    mistakes.url = 'Give an address that begins with https:// or http://. Or leave it empty.'
  if (draft.events.length === 0) mistakes.events = 'Choose at least one event, or all of them.'
  const filter = parsedFilter(draft.filter)
  if ('mistake' in filter) mistakes.filter = filter.mistake
  const delays = draft.delaysSeconds
    .split(/[,\s]+/)
    .filter(Boolean)
    .map(Number)
  if (delays.some((delay) => !(delay >= 0)))
    mistakes.delaysSeconds = 'Give seconds, such as 5, 60, 600.'
  const limit = whole('rateLimit', draft.rateLimit)
  const perSeconds = whole('ratePerSeconds', draft.ratePerSeconds)
  if ((limit === null) !== (perSeconds === null)) {
    mistakes.ratePerSeconds ??= 'Give both numbers, or neither.'
  }
  const maxAttempts = whole('maxAttempts', draft.maxAttempts)
  const body: Body = {
    url: draft.url.trim() || null,
    events: draft.events,
    ...(draft.tenant.trim() && { tenant: draft.tenant.trim() }),
    label: draft.label.trim() || null,
    description: draft.description.trim() || null,
    filter: 'filter' in filter ? filter.filter : null,
    headers: named(draft.headers, 'headers', mistakes),
    metadata: named(draft.metadata, 'metadata', mistakes),
    timeoutMs: whole('timeoutMs', draft.timeoutMs),
    retry:
      maxAttempts === null && delays.length === 0
        ? null
        : {
            ...(maxAttempts !== null && { maxAttempts }),
            ...(delays.length > 0 && { delaysSeconds: delays }),
          },
    rateLimit: limit === null || perSeconds === null ? null : { limit, perSeconds },
    maxInFlight: whole('maxInFlight', draft.maxInFlight),
    ordered: draft.ordered,
    transform: draft.transform.trim() || null,
  }
  return Object.keys(mistakes).length > 0 ? { mistakes } : { body }
}

/** `name: value`, one a line. */
function named(
  of: string,
  field: 'headers' | 'metadata',
  mistakes: Mistakes,
): Record<string, string> | null {
  const pairs: Record<string, string> = {}
  for (const line of of.split('\n').filter((one) => one.trim() !== '')) {
    const at = line.indexOf(':')
    if (at < 1)
      mistakes[field] = `Write one "name: value" a line. This line is not one: ${line.slice(0, 60)}`
    else pairs[line.slice(0, at).trim()] = line.slice(at + 1).trim()
  }
  return Object.keys(pairs).length > 0 ? pairs : null
}

/** The fields that differ; what is left out stays as it is. */
export function changesFrom(before: Draft, after: Draft): Partial<Body> {
  const [old, now] = [readDraft(before), readDraft(after)]
  if (!('body' in now)) return {}
  const former: Partial<Body> = 'body' in old ? old.body : {}
  return Object.fromEntries(
    Object.entries(now.body).filter(
      ([name, value]) =>
        name !== 'tenant' && JSON.stringify(value) !== JSON.stringify(former[name as keyof Body]),
    ),
  )
}
