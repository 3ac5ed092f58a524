import { useState } from 'preact/hooks'
import type { User } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { go, href } from '../../state/router.ts'
import { Button, Link } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Time } from '../../ui/facts.tsx'
import { TextField } from '../../ui/field.tsx'
import { SEARCH, TENANT } from '../../ui/filters.tsx'
import { ListScreen, useList } from '../../ui/list-screen.tsx'
import { Empty } from '../../ui/notes.tsx'
import type { Column } from '../../ui/table.tsx'
import { TenantField, TenantName } from '../../ui/tenant.tsx'

const FILTERS = [{ ...SEARCH, label: 'Name or e-mail' }, TENANT]

const userHref = ({ id }: User): string => href(`users/${id}`)

const COLUMNS: readonly Column<User>[] = [
  {
    name: 'User',
    kind: 'main',
    bare: true,
    cell: (user) => (
      <>
        <Link to={userHref(user)} class="main-line">
          <bdi>{user.name}</bdi>
        </Link>
        <bdi class="sub-line">{user.email}</bdi>
      </>
    ),
  },
  { name: 'Role', cell: ({ role }) => <bdi>{role}</bdi> },
  { name: 'Tenant', cell: ({ tenant }) => <TenantName of={tenant} /> },
  { name: 'Created', kind: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

export function UsersScreen() {
  const { may } = useSession()
  const [making, setMaking] = useState(false)
  const list = useList('users.list', FILTERS)
  const add = may('users:write') && (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      New user
    </Button>
  )
  return (
    <ListScreen
      title="Users"
      about="Whoever has API keys: a person or a service."
      actions={add}
      list={list}
      label="Users"
      to={userHref}
      columns={COLUMNS}
      unmatched="No user matches"
      advice=""
      empty={
        <Empty title="No users yet" action={add}>
          Create one, then give it a key.
        </Empty>
      }
    >
      {making && (
        <NewUserDialog tenant={list.values['tenant'] ?? ''} onClose={() => setMaking(false)} />
      )}
    </ListScreen>
  )
}

function NewUserDialog({ tenant: initial, onClose }: { tenant: string; onClose: () => void }) {
  const { session } = useSession()
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState('')
  const [tenant, setTenant] = useState(initial)
  return (
    <FormDialog
      title="New user"
      submit="Create user"
      disabled={!email.trim() || !name.trim()}
      call="users.create"
      input={() => ({
        email: email.trim(),
        name: name.trim(),
        ...(role.trim() && { role: role.trim() }),
        ...(tenant.trim() && { tenant: tenant.trim() }),
      })}
      onDone={(user) => go(userHref(user))}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onValue={setName} required />
      <TextField label="E-mail" type="email" value={email} onValue={setEmail} required />
      <div class="pair">
        <TextField
          label="Role"
          value={role}
          onValue={setRole}
          hint="A word of yours. Empty: user."
        />
        {session.operator && (
          <TenantField value={tenant} onValue={setTenant} hint="Empty: yours." />
        )}
      </div>
    </FormDialog>
  )
}
