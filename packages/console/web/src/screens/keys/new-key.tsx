import { useState } from 'preact/hooks'
import { call } from '../../server/call.ts'
import { useSession } from '../../shell/session.ts'
import { useCall } from '../../state/queries.ts'
import { go, href } from '../../state/router.ts'
import type { CallResult, CreatedApiKey } from '../../server/contract.ts'
import { emptyKeyDraft } from '../../text/key-draft.ts'
import { shortId } from '../../text/format.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Note, ProblemNote } from '../../ui/notes.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { useUserForm } from '../users/new-user.tsx'
import { useKeyForm } from './key-fields.tsx'

/** In the place of the id of a user. */
const NEW = 'new'

/** Makes a key, and shows its text once. */
export function NewKeyDialog({ userId, onClose }: { userId: string; onClose: () => void }) {
  const { may } = useSession()
  const [chosen, setChosen] = useState(userId)
  const newUser = useUserForm('')
  const { form, read } = useKeyForm(emptyKeyDraft)
  const [made, setMade] = useState<CreatedApiKey>()
  const owners = useCall('keys.owners', userId ? null : { limit: 200 })
  const makesUsers = may('users:write')
  const isFirst = owners.data?.items.length === 0
  const owner = chosen || (isFirst && makesUsers ? NEW : '')
  if (made) return <MadeKey made={made} title="The key is made" onClose={onClose} />
  return (
    <FormDialog
      title="New API key"
      submit="Create key"
      wide
      disabled={owner === NEW ? !newUser.user : !owner.trim()}
      call="keys.create"
      input={() => {
        const fields = read()
        return fields && { userId: owner.trim(), ...fields }
      }}
      does={async (input) => {
        if (owner !== NEW || !newUser.user) return await call('keys.create', input)
        const { id } = await call('users.create', newUser.user)
        // Where the key is refused, the user is there, and is not made again.
        setChosen(id)
        owners.reload()
        return await call('keys.create', { ...input, userId: id })
      }}
      onDone={setMade}
      onClose={onClose}
    >
      {owners.problem && <ProblemNote problem={owners.problem} retry={owners.reload} />}
      {isFirst && !makesUsers && (
        <Note kind="warn">There is no user whose key it could be. Ask for one.</Note>
      )}
      {owners.data && (!isFirst || makesUsers) && (
        <Owner of={owners.data} owner={owner} onOwner={setChosen} hasNew={makesUsers} />
      )}
      {owner === NEW && newUser.form}
      {form}
    </FormDialog>
  )
}

/** Whose key it is: chosen by name. Of more than one page of users, another one is named by its id. */
function Owner({
  of: { items, next },
  owner,
  onOwner,
  hasNew,
}: {
  of: CallResult<'keys.owners'>
  owner: string
  onOwner: (id: string) => void
  /** Whether it may be a user that is made with it. */
  hasNew: boolean
}) {
  return (
    <>
      <Select
        label="User"
        value={owner === NEW || items.some(({ id }) => id === owner) ? owner : ''}
        onValue={onOwner}
        choices={[
          { value: '', label: 'Choose whose key it is' },
          ...(hasNew ? [{ value: NEW, label: 'A new user' }] : []),
          ...items.map(({ id, name }) => ({ value: id, label: `${name} · ${shortId(id)}` })),
        ]}
      />
      {next !== null && (
        <TextField
          label="Or the id of another user"
          value={owner === NEW ? '' : owner}
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
