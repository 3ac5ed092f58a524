import { useState } from 'preact/hooks'
import type { User } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { href } from '../../state/router.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Time } from '../../ui/facts.tsx'
import { SEARCH, TENANT } from '../../ui/filters.tsx'
import { ListScreen, useList } from '../../ui/list-screen.tsx'
import { Empty } from '../../ui/notes.tsx'
import type { Column } from '../../ui/table.tsx'
import { TenantName } from '../../ui/tenant.tsx'
import { NewUserDialog } from './new-user.tsx'

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
  { name: 'Tenant', operators: true, cell: ({ tenant }) => <TenantName of={tenant} /> },
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
