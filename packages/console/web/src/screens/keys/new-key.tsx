import { useState } from 'preact/hooks'
import { call } from '../../server/call.ts'
import { go, href } from '../../state/router.ts'
import { useChange } from '../../state/use-change.ts'
import { useQuery } from '../../state/use-query.ts'
import type { CreatedApiKey } from '../../server/contract.ts'
import { emptyKeyDraft, readKeyDraft } from '../../text/key-draft.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { KeyFieldsForm } from './key-fields.tsx'

/** Makes a key, and shows its text once. */
export function NewKeyDialog({
  userId,
  onClose,
  onMade,
}: {
  userId: string
  onClose: () => void
  onMade: () => void
}) {
  const [owner, setOwner] = useState(userId)
  const [draft, setDraft] = useState(emptyKeyDraft)
  const [mistake, setMistake] = useState('')
  const [made, setMade] = useState<CreatedApiKey>()
  const { busy, problem, run } = useChange()
  const users = useQuery(userId ? null : 'users', (signal) =>
    call('users.list', { limit: 200 }, signal),
  )
  const create = async () => {
    const read = readKeyDraft(draft)
    setMistake('mistake' in read ? read.mistake : '')
    if (!('fields' in read)) return
    const created = await run(() => call('keys.create', { userId: owner.trim(), ...read.fields }))
    if (!created) return
    setMade(created)
    onMade()
  }
  if (made) return <MadeKey made={made} title="The key is made" onClose={onClose} />
  return (
    <FormDialog
      title="New API key"
      submit="Create key"
      wide
      busy={busy}
      problem={problem}
      disabled={!owner.trim()}
      onSubmit={() => void create()}
      onClose={onClose}
    >
      {!userId &&
        (users.data && users.data.items.length > 0 && users.data.next === null ? (
          <Select
            label="User"
            value={owner}
            onValue={setOwner}
            choices={[
              { value: '', label: 'Choose whose key it is' },
              ...users.data.items.map(({ id, name, email, tenant }) => ({
                value: id,
                label: `${name} · ${email}${tenant ? ` · ${tenant}` : ''}`,
              })),
            ]}
          />
        ) : (
          <TextField
            label="User id"
            value={owner}
            onValue={setOwner}
            mono
            hint="Whose key it is: see Users."
          />
        ))}
      <KeyFieldsForm
        draft={draft}
        set={(change) => setDraft((before) => ({ ...before, ...change }))}
      />
      {mistake && (
        <p class="problem-text" role="alert">
          {mistake}
        </p>
      )}
    </FormDialog>
  )
}

export const MadeKey = ({
  made,
  title,
  onClose,
}: {
  made: CreatedApiKey
  title: string
  onClose: () => void
}) => (
  <SecretDialog
    title={title}
    secret={made.key}
    what="API key"
    onClose={() => {
      onClose()
      go(href(`keys/${made.id}`))
    }}
  >
    Copy it now: it is stored as a hash, and nobody can show it again.
  </SecretDialog>
)
