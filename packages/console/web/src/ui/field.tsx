/** Fields of forms: each with its label, what it is for, and what is wrong with it. */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { count } from '../text/format.ts'

interface FieldProps {
  label: string
  hint?: ComponentChildren
  problem?: string | undefined
  value: string
  onValue: (value: string) => void
}

interface Described {
  id: string
  describedBy: string | undefined
}

function Frame({
  label,
  hint,
  problem,
  wide = false,
  children,
}: Pick<FieldProps, 'label' | 'hint' | 'problem'> & {
  wide?: boolean
  children: (of: Described) => ComponentChildren
}) {
  const id = useId()
  const describedBy = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div class={`field${problem ? ' wrong' : ''}${wide ? ' wide' : ''}`}>
      <label for={id}>{label}</label>
      {children({ id, describedBy: describedBy || undefined })}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p class="problem-text" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}

export const TextField = ({
  type = 'text',
  placeholder,
  required,
  autoComplete = 'off',
  mono,
  autoFocus,
  list,
  ...field
}: FieldProps & {
  type?: 'text' | 'url' | 'email' | 'password' | 'number' | 'search' | 'datetime-local'
  placeholder?: string
  required?: boolean
  autoComplete?: 'off' | 'current-password'
  mono?: boolean
  autoFocus?: boolean
  list?: readonly string[]
}) => (
  <Frame {...field} wide={type === 'datetime-local'}>
    {({ id, describedBy }) => (
      <>
        <input
          id={id}
          {...plain(type)}
          class={mono ? 'mono' : undefined}
          value={field.value}
          placeholder={placeholder}
          required={required}
          autocomplete={autoComplete}
          spellcheck={false}
          autofocus={autoFocus}
          list={list ? `${id}-list` : undefined}
          aria-describedby={describedBy}
          aria-invalid={field.problem ? true : undefined}
          onInput={({ currentTarget }) => field.onValue(currentTarget.value)}
        />
        {list && (
          <datalist id={`${id}-list`}>
            {list.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        )}
      </>
    )}
  </Frame>
)

/** Its attributes are typed apart for each type of input; those that are used here are common to all. */
const plain = (type: string): { type: 'text' } => ({ type: type as 'text' })

export const TextArea = ({
  rows = 4,
  mono,
  ...field
}: FieldProps & { rows?: number; mono?: boolean }) => (
  <Frame {...field}>
    {({ id, describedBy }) => (
      <textarea
        id={id}
        rows={rows}
        class={mono ? 'mono' : undefined}
        value={field.value}
        spellcheck={false}
        aria-describedby={describedBy}
        aria-invalid={field.problem ? true : undefined}
        onInput={({ currentTarget }) => field.onValue(currentTarget.value)}
      />
    )}
  </Frame>
)

/** JSON that is typed; `read` gives what it is made into, or says what is wrong with it. */
export function useJsonDraft() {
  const [value, setValue] = useState('')
  const [problem, setProblem] = useState<string>()
  const onValue = (text: string) => {
    setValue(text)
    setProblem(undefined)
  }
  const read = <Made,>(make: (json: unknown) => Made): Made | undefined => {
    try {
      return make(value.trim() === '' ? undefined : JSON.parse(value))
    } catch (error) {
      setProblem(`This is not JSON: ${(error as Error).message}`)
      return undefined
    }
  }
  return { field: { value, onValue, problem }, read }
}

export interface Choice {
  value: string
  label: string
}

export const choicesOf = (labels: readonly string[]): Choice[] =>
  labels.map((label) => ({ value: label.toLowerCase(), label }))

export const Select = ({ choices, ...field }: FieldProps & { choices: readonly Choice[] }) => (
  <Frame {...field}>
    {({ id, describedBy }) => (
      <select
        id={id}
        value={field.value}
        aria-describedby={describedBy}
        onChange={({ currentTarget }) => field.onValue(currentTarget.value)}
      >
        {choices.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    )}
  </Frame>
)

export const Checkbox = ({
  label,
  hint,
  checked,
  onChecked,
}: {
  label: ComponentChildren
  hint?: string | undefined
  checked: boolean
  onChecked: (checked: boolean) => void
}) => {
  const id = useId()
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={({ currentTarget }) => onChecked(currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** From here on they are searched. */
const MANY = 12

/** Several of a set: a group of checkboxes under one name. */
export function Choices({
  label,
  hint,
  problem,
  all,
  chosen,
  none = 'There is nothing to choose from.',
  onChosen,
}: {
  label: string
  hint?: string
  problem?: string | undefined
  all: readonly { value: string; hint?: string | undefined }[]
  chosen: readonly string[]
  /** What is said where there is nothing to choose from. */
  none?: ComponentChildren
  onChosen: (chosen: string[]) => void
}) {
  const toggle = (value: string, on: boolean) =>
    onChosen(on ? [...chosen, value] : chosen.filter((one) => one !== value))
  const [search, setSearch] = useState('')
  const shown = all.filter(
    ({ value }) => chosen.includes(value) || value.toLowerCase().includes(search.toLowerCase()),
  )
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {hint && <p class="hint">{hint}</p>}
      {all.length > MANY && (
        <input
          type="search"
          aria-label={`Search in ${label}`}
          placeholder={`Search in ${count(all.length)}`}
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      )}
      {all.length === 0 && <p class="hint">{none}</p>}
      <div class="choice-grid" hidden={all.length === 0}>
        {shown.map(({ value, hint: about }) => (
          <Checkbox
            key={value}
            label={<span class="mono">{value}</span>}
            hint={about}
            checked={chosen.includes(value)}
            onChecked={(on) => toggle(value, on)}
          />
        ))}
      </div>
      {problem && <p class="problem-text">{problem}</p>}
    </fieldset>
  )
}
