/** The filters of a list. They are part of the URL, so that a link shows what its sender saw. */
import { useEffect, useState } from 'preact/hooks'
import { useSession } from '../shell/session.ts'
import type { Webhook } from '../server/contract.ts'
import {
  searchOf,
  searchProblem,
  useCatalogue,
  useFoundWebhooks,
  useSources,
  useTenants,
  useWebhook,
  useWebhooks,
  webhookName,
} from '../state/names.ts'
import { fromLocal, isUuid, shortId, toLocal } from '../text/format.ts'
import { Button } from './button.tsx'
import { Select, TextField, type Choice } from './field.tsx'

export interface Filter {
  /** In the address, and in the input of the call. */
  name: string
  label: string
  /** One of these is chosen. Without them a text is typed, or what the kind says. */
  choices?: readonly Choice[]
  /** `tenant`: only an operator sees more than one; `event`: a name of the catalogue. */
  kind?: 'tenant' | 'event' | 'source' | 'webhook' | 'time'
  placeholder?: string
  /** Values that are suggested. */
  suggested?: readonly string[]
  /** It is needed now and then. */
  more?: boolean
  /** What is typed or chosen, of the value in the address, and back. */
  shown?: (value: string) => string
  read?: (typed: string) => string
  /** Why what is typed has no effect. */
  problem?: (typed: string) => string | undefined
}

export const TENANT = {
  name: 'tenant',
  label: 'Tenant',
  kind: 'tenant',
  placeholder: 'All',
} as const
export const EVENT = { name: 'event', label: 'Event', kind: 'event' } as const
export const WEBHOOK = { name: 'webhookId', label: 'Webhook', kind: 'webhook' } as const
/** Beginnings of words, as the list finds them. */
export const SEARCH = {
  name: 'search',
  label: 'Name',
  placeholder: 'Any',
  read: (typed: string) => searchOf(typed) ?? '',
  problem: searchProblem,
} as const
/** From when, and until when. */
export const SPAN = [
  { name: 'since', label: 'From', kind: 'time', more: true },
  { name: 'until', label: 'Until', kind: 'time', more: true },
] as const

export type FilterValues = Readonly<Record<string, string>>

export function FilterBar({
  filters,
  values,
  onChange,
  onClear,
}: {
  filters: readonly Filter[]
  values: FilterValues
  onChange: (change: Record<string, string>) => void
  /** Where there is anything to clear. */
  onClear: (() => void) | false
}) {
  const { session } = useSession()
  const all = filters.filter(({ kind }) => session.operator || kind !== 'tenant')
  const more = all.filter((filter) => filter.more)
  const [opened, setOpened] = useState(more.some(({ name }) => values[name]))
  if (all.length === 0) return null
  const field = (filter: Filter) => (
    <Field
      key={filter.name}
      filter={filter}
      value={values[filter.name] ?? ''}
      onValue={(value) => onChange({ [filter.name]: value })}
    />
  )
  return (
    <search class="filters" aria-label="Filters">
      {all.filter((filter) => !filter.more).map(field)}
      {opened && more.map(field)}
      <div class="filter-actions">
        {more.length > 0 && (
          <Button kind="quiet" expanded={opened} onClick={() => setOpened(!opened)}>
            {opened ? 'Fewer filters' : 'More filters'}
          </Button>
        )}
        {onClear && (
          <Button kind="quiet" icon="close" onClick={onClear}>
            Clear
          </Button>
        )}
      </div>
    </search>
  )
}

interface FieldProps {
  filter: Filter
  value: string
  onValue: (value: string) => void
}

function Field(props: FieldProps) {
  const { filter, value, onValue } = props
  const { label, kind, choices, shown = String, read = String } = filter
  if (kind === 'webhook') return <WebhookField {...props} />
  if (kind === 'event') return <EventField {...props} />
  if (kind === 'source') return <SourceField {...props} />
  if (kind === 'tenant') return <TenantChoice {...props} />
  if (kind === 'time') {
    return (
      <TextField
        label={label}
        type="datetime-local"
        value={toLocal(value)}
        onValue={(local) => onValue(fromLocal(local))}
      />
    )
  }
  if (!choices) return <TypedField {...props} />
  return (
    <Select
      label={label}
      value={shown(value)}
      onValue={(chosen) => onValue(read(chosen))}
      choices={[{ value: '', label: 'Any' }, ...choices]}
    />
  )
}

const PAUSE_MS = 350
const FEW = 5

/** Takes effect when its writer pauses. */
function TypedField({
  filter: { label, placeholder = 'Any', read = String, problem: problemOf, suggested },
  value,
  onValue,
  list = suggested,
}: FieldProps & { list?: readonly string[] }) {
  const [text, setText] = useState(value)
  const problem = problemOf?.(text.trim())
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value || problem !== undefined) return
    const timer = setTimeout(() => onValue(read(text.trim())), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <TextField
      label={label}
      type="search"
      value={text}
      onValue={setText}
      placeholder={placeholder}
      problem={problem}
      {...(list && { list })}
    />
  )
}

/** What is the beginning of names, and none itself, waits until one of them is chosen. */
function EventField(props: FieldProps) {
  const { names } = useCatalogue()
  const problem = (typed: string) => {
    const begun = typed.replace(/\*+$/, '').toLowerCase()
    const found =
      typed && !names.includes(typed)
        ? names.filter((name) => name.toLowerCase().startsWith(begun))
        : []
    return found.length > 0 ? `Choose one: ${found.slice(0, FEW).join(', ')}` : undefined
  }
  return <TypedField {...props} filter={{ ...props.filter, problem }} list={names} />
}

const SourceField = (props: FieldProps) => (
  <TypedField {...props} list={useSources().sources.map(({ source }) => source)} />
)

/** What has no tenant. It is the name of none: these have no brackets. */
export const OPERATORS = '(operator)'

const TenantChoice = (props: FieldProps) => (
  <TypedField {...props} list={[OPERATORS, ...useTenants(props.value)]} />
)

/** A choice of names where there are few webhooks; else a field that searches them. */
function WebhookField(props: FieldProps) {
  const { filter, value } = props
  const { items, whole } = useWebhooks()
  const isKnown = value === '' || items.some(({ id }) => id === value)
  if (whole === false || (whole && !isKnown)) return <WebhookSearch {...props} />
  const choices = items.map((webhook) => ({ value: webhook.id, label: webhookName(webhook) }))
  // Until the names are there.
  const chosen = isKnown ? [] : [{ value, label: shortId(value) }]
  return (
    <Field
      {...props}
      filter={{ name: filter.name, label: filter.label, choices: [...chosen, ...choices] }}
    />
  )
}

/** Names may be alike: the end of the id tells them apart. */
const namedById = (webhook: Webhook): string => `${webhookName(webhook)} ${shortId(webhook.id)}`

function WebhookSearch({ filter: { label }, value, onValue }: FieldProps) {
  const chosen = useWebhook(value)
  const name = chosen ? namedById(chosen) : value
  const [typed, setTyped] = useState(name)
  const [searched, setSearched] = useState('')
  useEffect(() => setTyped(name), [name])
  useEffect(() => {
    const timer = setTimeout(() => setSearched(typed === name ? '' : typed), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed, name])
  const found = useFoundWebhooks(searched)
  const take = (text: string) => {
    setTyped(text)
    const one = found.find((webhook) => namedById(webhook) === text)
    if (one) onValue(one.id)
    else if (text.trim() === '' || isUuid(text.trim())) onValue(text.trim())
  }
  return (
    <TextField
      label={label}
      type="search"
      value={typed}
      onValue={take}
      placeholder="Name, address or id"
      list={found.map(namedById)}
    />
  )
}
