import type { ListedSession } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { useChange } from '../state/queries.ts'
import { href } from '../state/router.ts'
import { Button } from '../ui/button.tsx'
import { Badge, Id, Time } from '../ui/facts.tsx'
import { ListScreen, useList } from '../ui/list-screen.tsx'
import { Empty, ProblemNote } from '../ui/notes.tsx'
import { TenantName } from '../ui/tenant.tsx'
import { say } from '../ui/toasts.tsx'

export function SessionsScreen() {
  const { may } = useSession()
  const { busy, input, problem, run } = useChange('sessions.end', () => say('Session ended'))
  const endButton = ({ id, current }: ListedSession) =>
    may('sessions:write') &&
    !current && (
      <Button busy={busy && input?.id === id} onClick={() => run({ id })}>
        End
      </Button>
    )
  return (
    <ListScreen
      title="Sessions"
      about="Who is signed in to this console, with a key or by a link."
      list={useList('sessions.list')}
      label="Sessions"
      columns={[
        { name: 'Session', kind: 'main', bare: true, cell: (row) => <Who row={row} /> },
        { name: 'Tenant', cell: ({ tenant }) => <TenantName of={tenant} /> },
        { name: 'From', cell: ({ ip }) => ip && <bdi class="mono">{ip}</bdi> },
        { name: 'Began', kind: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { name: 'Ends', kind: 'end', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
        { name: 'End it', kind: 'end', bare: true, cell: endButton },
      ]}
      empty={<Empty title="No sessions" />}
    >
      {problem && <ProblemNote problem={problem} />}
    </ListScreen>
  )
}

const Who = ({ row: { via, keyId, userId, current } }: { row: ListedSession }) => (
  <span class="heading-facts">
    <b>{via === 'portal' ? 'Portal link' : 'API key'}</b>
    {keyId ? (
      <Id id={keyId} what="key" to={href(`keys/${keyId}`)} />
    ) : (
      (via === 'key' || userId !== null) && (
        <bdi class="faint">{via === 'key' ? 'bootstrap' : userId}</bdi>
      )
    )}
    {current && <Badge tone="ok">This one</Badge>}
  </span>
)
