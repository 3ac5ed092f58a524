import { useState } from 'preact/hooks'
import { call } from '../../server/call.ts'
import { useSession } from '../../shell/session.ts'
import { go, href } from '../../state/router.ts'
import { usePages } from '../../state/use-pages.ts'
import { useQuery } from '../../state/use-query.ts'
import { Button } from '../../ui/button.tsx'
import { DeleteDialog } from '../../ui/delete-dialog.tsx'
import { ExactTime, Facts, Id } from '../../ui/facts.tsx'
import { Panel, Screen } from '../../ui/layout.tsx'
import { Empty, Loading, ProblemNote } from '../../ui/notes.tsx'
import { TenantName } from '../../ui/tenant.tsx'
import { say } from '../../ui/toasts.tsx'
import { KeysTable } from '../keys/keys.tsx'
import { NewKeyDialog } from '../keys/new-key.tsx'

export function UserScreen({ id }: { id: string }) {
  const { may } = useSession()
  const [dialog, setDialog] = useState<'key' | 'delete' | null>(null)
  const {
    data: user,
    problem,
    loading,
    reload,
  } = useQuery(id, (signal) => call('users.get', { id }, signal), ['users'])
  const keys = usePages(
    id,
    (after, signal) => call('keys.list', { userId: id, ...(after && { after }) }, signal),
    ['keys'],
  )
  const add = may('keys:write') && (
    <Button kind="primary" icon="plus" onClick={() => setDialog('key')}>
      New key
    </Button>
  )
  return (
    <Screen
      title={<bdi>{user?.name ?? 'User'}</bdi>}
      back={{ to: href('users'), label: 'Users' }}
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
      {problem && <ProblemNote problem={problem} retry={reload} />}
      {loading && <Loading />}
      {user && (
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
            <KeysTable pages={keys} empty={<Empty title="No keys yet" action={add} />} />
          </Panel>
        </>
      )}
      {dialog === 'key' && (
        <NewKeyDialog userId={id} onClose={() => setDialog(null)} onMade={keys.reload} />
      )}
      {dialog === 'delete' && (
        <DeleteDialog
          title="Delete this user"
          remove={() => call('users.delete', { id })}
          onDone={() => {
            say('Deleted, and its keys revoked')
            go(href('users'))
          }}
          onClose={() => setDialog(null)}
        >
          All keys of the user are revoked with it. Nothing undoes that.
        </DeleteDialog>
      )}
    </Screen>
  )
}
