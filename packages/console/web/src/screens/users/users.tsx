import { useState } from 'preact/hooks'
import { call } from '../../server/call.ts'
import { useSession } from '../../shell/session.ts'
import { go, href, useFilters } from '../../state/router.ts'
import { useChange } from '../../state/use-change.ts'
import { usePages } from '../../state/use-pages.ts'
import { Button, Link } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Time } from '../../ui/facts.tsx'
import { TextField } from '../../ui/field.tsx'
import { Panel, Screen } from '../../ui/layout.tsx'
import { Empty } from '../../ui/notes.tsx'
import { PagedTable } from '../../ui/table.tsx'
import { TenantFilterBar, TenantName } from '../../ui/tenant.tsx'

export function UsersScreen() {
  const { may } = useSession()
  const { values, set, given, any } = useFilters(['tenant'])
  const [making, setMaking] = useState(false)
  const pages = usePages(
    JSON.stringify(given),
    (after, signal) => call('users.list', { ...given, ...(after && { after }) }, signal),
    ['users'],
  )
  const add = may('users:write') && (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      New user
    </Button>
  )
  return (
    <Screen title="Users" about="Whoever has API keys: a person or a service." actions={add}>
      <TenantFilterBar value={values.tenant} onValue={(tenant) => set({ tenant })} />
      <Panel flush>
        <PagedTable
          label="Users"
          pages={pages}
          id={({ id }) => id}
          to={({ id }) => href(`users/${id}`)}
          columns={[
            {
              name: 'User',
              kind: 'main',
              bare: true,
              cell: ({ id, name, email }) => (
                <>
                  <Link to={href(`users/${id}`)} class="main-line">
                    <bdi>{name}</bdi>
                  </Link>
                  <bdi class="sub-line">{email}</bdi>
                </>
              ),
            },
            { name: 'Role', cell: ({ role }) => <bdi>{role}</bdi> },
            { name: 'Tenant', cell: ({ tenant }) => <TenantName of={tenant} /> },
            { name: 'Created', kind: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
          empty={
            any ? (
              <Empty title="This tenant has no user" />
            ) : (
              <Empty title="No users yet" action={add}>
                Create one, then give it a key.
              </Empty>
            )
          }
        />
      </Panel>
      {making && <NewUserDialog tenant={values.tenant} onClose={() => setMaking(false)} />}
    </Screen>
  )
}

function NewUserDialog({ tenant: initial, onClose }: { tenant: string; onClose: () => void }) {
  const { session } = useSession()
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState('')
  const [tenant, setTenant] = useState(initial)
  const { busy, problem, run } = useChange()
  const create = async () => {
    const user = await run(() =>
      call('users.create', {
        email: email.trim(),
        name: name.trim(),
        ...(role.trim() && { role: role.trim() }),
        ...(tenant.trim() && { tenant: tenant.trim() }),
      }),
    )
    if (user) go(href(`users/${user.id}`))
  }
  return (
    <FormDialog
      title="New user"
      submit="Create user"
      busy={busy}
      problem={problem}
      disabled={!email.trim() || !name.trim()}
      onSubmit={() => void create()}
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
          <TextField label="Tenant" value={tenant} onValue={setTenant} hint="Empty: yours." />
        )}
      </div>
    </FormDialog>
  )
}
