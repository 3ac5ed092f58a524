import { useState } from 'preact/hooks'
import { useSession } from '../../shell/session.ts'
import { useCall, usePages } from '../../state/queries.ts'
import { cameFrom, go, href } from '../../state/router.ts'
import { Button } from '../../ui/button.tsx'
import { DeleteDialog } from '../../ui/delete-dialog.tsx'
import { ExactTime, Facts, Id } from '../../ui/facts.tsx'
import { Panel, Screen } from '../../ui/layout.tsx'
import { Answered, Empty } from '../../ui/notes.tsx'
import { PagedTable } from '../../ui/table.tsx'
import { TenantName } from '../../ui/tenant.tsx'
import { KEYS_TABLE, OWNER } from '../keys/keys.tsx'
import { NewKeyDialog } from '../keys/new-key.tsx'

export function UserScreen({ id }: { id: string }) {
  const { may } = useSession()
  const [dialog, setDialog] = useState<'key' | 'delete' | null>(null)
  const answer = useCall('users.get', { id })
  const { data: user } = answer
  const keys = usePages('keys.list', { userId: id, include: 'usage' })
  const add = may('keys:write') && (
    <Button kind="primary" icon="plus" onClick={() => setDialog('key')}>
      New key
    </Button>
  )
  return (
    <Screen
      title={<bdi>{user?.name ?? 'User'}</bdi>}
      back={{ to: cameFrom('users'), label: 'Users' }}
      about={user && <bdi>{user.email}</bdi>}
      actions={
        user && (
          <>
            {add}
            {may('users:write') && (
              <Button kind="danger" onClick={() => setDialog('delete')}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      <Answered of={answer}>
        {(user) => (
          <>
            <Panel>
              <Facts
                rows={[
                  ['Role', <bdi>{user.role}</bdi>],
                  ['Tenant', <TenantName of={user.tenant} />],
                  ['Created', <ExactTime at={user.createdAt} />],
                  ['Id', <Id id={user.id} what="user id" />],
                ]}
              />
            </Panel>
            <Panel title="API keys" flush>
              <PagedTable
                {...KEYS_TABLE}
                columns={KEYS_TABLE.columns.filter((column) => column !== OWNER)}
                pages={keys}
                empty={<Empty title="No keys yet" action={add} />}
              />
            </Panel>
          </>
        )}
      </Answered>
      {dialog === 'key' && <NewKeyDialog userId={id} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && (
        <DeleteDialog
          title="Delete this user"
          call="users.delete"
          id={id}
          done="Deleted, and its keys revoked"
          onDone={() => go(href('users'))}
          onClose={() => setDialog(null)}
        >
          All keys of the user are revoked with it. Nothing undoes that.
        </DeleteDialog>
      )}
    </Screen>
  )
}
