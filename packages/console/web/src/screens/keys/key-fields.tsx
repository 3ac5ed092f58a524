/** The fields that a new key and a change of one have in common. */
import { useState } from 'preact/hooks'
import type { KeyFields } from '../../server/contract.ts'
import { useCall } from '../../state/queries.ts'
import { MOST_LIMITS, readKeyDraft, type KeyDraft, type LimitDraft } from '../../text/key-draft.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Choices, Select, TextArea, TextField } from '../../ui/field.tsx'

/** `read` gives the fields, or says in the form what is wrong with them. */
export function useKeyForm(initial: KeyDraft) {
  const [draft, setDraft] = useState(initial)
  const [mistake, setMistake] = useState('')
  const read = (): KeyFields | undefined => {
    const result = readKeyDraft(draft)
    setMistake('mistake' in result ? result.mistake : '')
    return 'fields' in result ? result.fields : undefined
  }
  const set = (change: Partial<KeyDraft>) => setDraft((before) => ({ ...before, ...change }))
  const form = (
    <>
      <KeyFieldsForm draft={draft} set={set} />
      {mistake && (
        <p class="problem-text" role="alert">
          {mistake}
        </p>
      )}
    </>
  )
  return { form, read }
}

interface KeyFormProps {
  draft: KeyDraft
  set: (change: Partial<KeyDraft>) => void
}

function KeyFieldsForm({ draft, set }: KeyFormProps) {
  const { data } = useCall('keys.scopes', {})
  const known = (data?.items ?? []).filter(({ grantable }) => grantable).map(({ name }) => name)
  const all = [...new Set([...known, ...draft.scopes])]
  return (
    <>
      <TextField
        label="Label"
        value={draft.label}
        onValue={(label) => set({ label })}
        hint="A name for people."
      />
      <Choices
        label="Scopes"
        hint="What the key may do. Without any it is known, and may do nothing."
        all={all.map((value) => ({ value }))}
        chosen={draft.scopes}
        onChosen={(scopes) => set({ scopes })}
      />
      <div class="pair">
        <TextField
          label="Expires"
          type="datetime-local"
          value={draft.expiresAt}
          onValue={(expiresAt) => set({ expiresAt })}
          hint="Empty: never."
        />
        <TextField
          label="Quota"
          value={draft.quota}
          onValue={(quota) => set({ quota })}
          hint="Requests. Empty: none."
        />
        <Select
          label="Quota period"
          value={draft.period}
          onValue={(period) => set({ period: period as KeyDraft['period'] })}
          choices={[
            { value: 'day', label: 'a day' },
            { value: 'month', label: 'a month' },
            { value: 'total', label: 'in all' },
          ]}
        />
      </div>
      <Limits limits={draft.limits} onLimits={(limits) => set({ limits })} />
      <TextArea
        label="Allowed networks"
        mono
        rows={2}
        value={draft.allowedIps}
        onValue={(allowedIps) => set({ allowedIps })}
        hint="CIDRs such as 203.0.113.0/24, or addresses. Empty: from everywhere."
      />
    </>
  )
}

function Limits({
  limits,
  onLimits,
}: {
  limits: LimitDraft[]
  onLimits: (limits: LimitDraft[]) => void
}) {
  const change = (at: number, part: Partial<LimitDraft>) =>
    onLimits(limits.map((one, index) => (index === at ? { ...one, ...part } : one)))
  return (
    <fieldset class="choices">
      <legend>Rate limits</legend>
      {limits.map(({ limit, perSeconds }, index) => (
        <div class="limits-row" key={index}>
          <input
            inputMode="numeric"
            aria-label={`Limit ${index + 1}: requests`}
            value={limit}
            onInput={({ currentTarget }) => change(index, { limit: currentTarget.value })}
          />
          requests in
          <input
            inputMode="numeric"
            aria-label={`Limit ${index + 1}: seconds`}
            value={perSeconds}
            onInput={({ currentTarget }) => change(index, { perSeconds: currentTarget.value })}
          />
          seconds
          <IconButton
            icon="close"
            label={`Remove limit ${index + 1}`}
            onClick={() => onLimits(limits.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {limits.length < MOST_LIMITS && (
        <Button icon="plus" onClick={() => onLimits([...limits, { limit: '', perSeconds: '' }])}>
          Add a limit
        </Button>
      )}
    </fieldset>
  )
}
