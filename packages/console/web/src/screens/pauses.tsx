/** What is stopped, and the buttons that stop it and let it go on. */
import { useState } from 'preact/hooks'
import type { Health } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { useChange } from '../state/queries.ts'
import { Button } from '../ui/button.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { Time } from '../ui/facts.tsx'
import { TextField } from '../ui/field.tsx'
import { Panel } from '../ui/layout.tsx'
import { ProblemNote } from '../ui/notes.tsx'
import { Table } from '../ui/table.tsx'
import { TenantField } from '../ui/tenant.tsx'
import { say } from '../ui/toasts.tsx'

type Paused = Health['paused'][number]

const nameOf = ({ scope, tenant, subscription }: Paused): string =>
  scope === 'all'
    ? 'All deliveries'
    : scope === 'tenant'
      ? `Tenant ${tenant}`
      : `Handler ${subscription}`

export function Pauses({ paused }: { paused: readonly Paused[] }) {
  const { session } = useSession()
  const mayStop = session.isAdmin && session.features.webhooks
  const [asking, setAsking] = useState(false)
  const ending = useChange('pauses.end', () => say('Deliveries go on'))
  const resuming = useChange('handlers.resume', () => say('The handler goes on'))
  const problem = ending.problem ?? resuming.problem
  const resume = ({ tenant, subscription }: Paused) =>
    subscription === undefined
      ? ending.run(tenant === undefined ? {} : { tenant })
      : resuming.run({ subscription })
  return (
    <Panel
      title="Paused"
      flush={paused.length > 0}
      actions={mayStop && <Button onClick={() => setAsking(true)}>Stop deliveries</Button>}
    >
      {problem && <ProblemNote problem={problem} />}
      {paused.length === 0 ? (
        <p class="hint">Nothing is paused</p>
      ) : (
        <Table
          label="Paused"
          rows={paused}
          id={nameOf}
          columns={[
            { name: 'What', kind: 'main', bare: true, cell: (row) => <b>{nameOf(row)}</b> },
            { name: 'Why', cell: ({ reason }) => reason },
            { name: 'Since', kind: 'end', cell: ({ since }) => <Time at={since} /> },
            {
              name: 'Do',
              kind: 'end',
              bare: true,
              cell: (row) =>
                mayStop && (
                  <Button busy={ending.busy || resuming.busy} onClick={() => resume(row)}>
                    Let it go on
                  </Button>
                ),
            },
          ]}
        />
      )}
      {asking && <StopDialog onClose={() => setAsking(false)} />}
    </Panel>
  )
}

function StopDialog({ onClose }: { onClose: () => void }) {
  const [reason, setReason] = useState('')
  const [tenant, setTenant] = useState('')
  return (
    <FormDialog
      title="Stop deliveries"
      submit="Stop them"
      kind="danger"
      call="pauses.begin"
      input={() => ({
        ...(tenant.trim() && { tenant: tenant.trim() }),
        ...(reason.trim() && { reason: reason.trim() }),
      })}
      done={() => 'Deliveries are stopped'}
      onClose={onClose}
    >
      <p>
        No attempt begins in any process, until you let it go on. Events are published, and their
        deliveries wait.
      </p>
      <TenantField hint="Empty: of all tenants." value={tenant} onValue={setTenant} />
      <TextField label="Why" value={reason} onValue={setReason} />
    </FormDialog>
  )
}
