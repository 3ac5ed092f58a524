import { useState } from 'preact/hooks'
import { useCall } from '../../state/queries.ts'
import { go, href } from '../../state/router.ts'
import type { CallResult, CreatedApiKey } from '../../server/contract.ts'
import { emptyKeyDraft } from '../../text/key-draft.ts'
import { shortId } from '../../text/format.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Note, ProblemNote } from '../../ui/notes.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { useKeyForm } from './key-fields.tsx'

/** Makes a key, and shows its text once. */
export function NewKeyDialog({ userId, onClose }: { userId: string; onClose: () => void }) {
  const [owner, setOwner] = useState(userId)
  const { form, read } = useKeyForm(emptyKeyDraft)
  const [made, setMade] = useState<CreatedApiKey>()
  const owners = useCall('keys.owners', userId ? null : { limit: 200 })
  if (made) return <MadeKey made={made} title="The key is made" onClose={onClose} />
  return (
    <FormDialog
      title="New API key"
      submit="Create key"
      wide
      disabled={!owner.trim()}
      call="keys.create"
      input={() => {
        const fields = read()
        return fields && { userId: owner.trim(), ...fields }
      }}
      onDone={setMade}
      onClose={onClose}
    >
      {owners.problem && <ProblemNote problem={owners.problem} retry={owners.reload} />}
      {owners.data && <Owner of={owners.data} owner={owner} onOwner={setOwner} />}
      {form}
    </FormDialog>
  )
}

/** Whose key it is: chosen by name. Of more than one page of users, another one is named by its id. */
function Owner({
  of: { items, next },
  owner,
  onOwner,
}: {
  of: CallResult<'keys.owners'>
  owner: string
  onOwner: (id: string) => void
}) {
  if (items.length === 0) {
    return (
      <Note kind="warn" action={<ButtonLink to={href('users')}>Users</ButtonLink>}>
        There is no user whose key it could be: make one first.
      </Note>
    )
  }
  return (
    <>
      <Select
        label="User"
        value={items.some(({ id }) => id === owner) ? owner : ''}
        onValue={onOwner}
        choices={[
          { value: '', label: 'Choose whose key it is' },
          ...items.map(({ id, name }) => ({ value: id, label: `${name} · ${shortId(id)}` })),
        ]}
      />
      {next !== null && (
        <TextField
          label="Or the id of another user"
          value={owner}
          onValue={onOwner}
          mono
          hint="The newest 200 are above."
        />
      )}
    </>
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
