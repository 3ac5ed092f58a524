/** The filters of a list. They are part of the URL, so that a link shows what its sender saw. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { fromLocal, toLocal } from '../text/format.ts'
import { Button } from './button.tsx'
import { Select, TextField, type Choice } from './field.tsx'

export function FilterBar({
  any,
  onClear,
  children,
  more,
  moreUsed = false,
}: {
  any: boolean
  onClear: () => void
  children: ComponentChildren
  /** Filters that are needed now and then. */
  more?: ComponentChildren
  moreUsed?: boolean
}) {
  const [opened, setOpened] = useState(moreUsed)
  return (
    <search class="filters" aria-label="Filters">
      {children}
      {opened && more}
      <div class="filter-actions">
        {more && (
          <Button kind="quiet" expanded={opened} onClick={() => setOpened(!opened)}>
            {opened ? 'Fewer filters' : 'More filters'}
          </Button>
        )}
        {any && (
          <Button kind="quiet" icon="close" onClick={onClear}>
            Clear
          </Button>
        )}
      </div>
    </search>
  )
}

const PAUSE_MS = 350

/** Takes effect when its writer pauses. */
export function TextFilter({
  label,
  value,
  onValue,
  placeholder,
  list,
}: {
  label: string
  value: string
  onValue: (value: string) => void
  placeholder?: string
  list?: readonly string[]
}) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => onValue(text.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <TextField
      label={label}
      type="search"
      value={text}
      onValue={setText}
      {...(placeholder && { placeholder })}
      {...(list && { list })}
    />
  )
}

export const ChoiceFilter = ({
  label,
  value,
  all = 'Any',
  choices,
  onValue,
}: {
  label: string
  value: string
  all?: string
  choices: readonly (string | Choice)[]
  onValue: (value: string) => void
}) => (
  <Select
    label={label}
    value={value}
    onValue={onValue}
    choices={[
      { value: '', label: all },
      ...choices.map((one) => (typeof one === 'string' ? { value: one, label: one } : one)),
    ]}
  />
)

/** From when, and until when. */
export const SpanFilter = ({
  since,
  until,
  onSpan,
}: {
  since: string
  until: string
  onSpan: (span: { since?: string; until?: string }) => void
}) => (
  <>
    <TimeFilter label="From" value={since} onValue={(time) => onSpan({ since: time })} />
    <TimeFilter label="Until" value={until} onValue={(time) => onSpan({ until: time })} />
  </>
)

export const TimeFilter = ({
  label,
  value,
  onValue,
}: {
  label: string
  value: string
  onValue: (iso: string) => void
}) => (
  <TextField
    label={label}
    type="datetime-local"
    value={toLocal(value)}
    onValue={(local) => onValue(fromLocal(local))}
  />
)
