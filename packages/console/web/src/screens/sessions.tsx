import { useState } from 'preact/hooks'
import type { ListedSession } from '../server/contract.ts'
import { call } from '../server/call.ts'
import { useSession } from '../shell/session.ts'
import { href } from '../state/router.ts'
import { useChange } from '../state/use-change.ts'
import { usePages } from '../state/use-pages.ts'
import { Button } from '../ui/button.tsx'
import { Badge, Id, Time } from '../ui/facts.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Empty, ProblemNote } from '../ui/notes.tsx'
import { PagedTable } from '../ui/table.tsx'
import { TenantName } from '../ui/tenant.tsx'
import { say } from '../ui/toasts.tsx'

export function SessionsScreen() {
  const { may } = useSession()
  const [ending, setEnding] = useState<string>()
  const { problem, run } = useChange()
  const pages = usePages(
    'sessions',
    (after, signal) => call('sessions.list', { ...(after && { after }) }, signal),
    ['session'],
  )
  const end = async (id: string) => {
    setEnding(id)
    if (await run(() => call('sessions.end', { id }))) {
      say('Session ended')
      pages.reload()
    }
    setEnding(undefined)
  }
  const endButton = ({ id, current }: ListedSession) =>
    may('sessions:write') &&
    !current && (
      <Button busy={ending === id} onClick={() => void end(id)}>
        End
      </Button>
    )
  return (
    <Screen title="Sessions" about="Who is signed in to this console, with a key or by a link.">
      {problem && <ProblemNote problem={problem} />}
      <Panel flush>
        <PagedTable
          label="Sessions"
          pages={pages}
          id={({ id }) => id}
          columns={[
            { name: 'Session', kind: 'main', bare: true, cell: (row) => <Who row={row} /> },
            { name: 'Tenant', cell: ({ tenant }) => <TenantName of={tenant} /> },
            { name: 'From', cell: ({ ip }) => ip && <bdi class="mono">{ip}</bdi> },
            { name: 'Began', kind: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
            { name: 'Ends', kind: 'end', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
            { name: 'End it', kind: 'end', bare: true, cell: endButton },
          ]}
          empty={<Empty title="No sessions" />}
        />
      </Panel>
    </Screen>
  )
}

const Who = ({ row: { via, keyId, current } }: { row: ListedSession }) => (
  <span class="heading-facts">
    <b>{via === 'portal' ? 'Portal link' : 'API key'}</b>
    {keyId ? (
      <Id id={keyId} what="key" to={href(`keys/${keyId}`)} />
    ) : (
      via === 'key' && <span class="faint">bootstrap</span>
    )}
    {current && <Badge tone="ok">This one</Badge>}
  </span>
)
