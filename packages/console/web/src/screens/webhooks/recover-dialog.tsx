/** Sends what a webhook did not get: first the count, then the change. */
import { useState } from 'preact/hooks'
import type { CallInput, Webhook } from '../../server/contract.ts'
import { useCall } from '../../state/queries.ts'
import { go, href } from '../../state/router.ts'
import { fromLocal, plural, toLocal } from '../../text/format.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Note, ProblemNote } from '../../ui/notes.tsx'

const WHAT = [
  { value: 'missing', label: 'Events that it never got a delivery of' },
  { value: 'dead', label: 'Dead letters' },
  { value: 'failed', label: 'Deliveries that wait for their next attempt: now' },
]
const DAY_MS = 86_400_000

export function RecoverDialog({
  webhook,
  title = 'Recover deliveries',
  since: from,
  onClose,
}: {
  webhook: Webhook
  title?: string
  /** Where the span begins. @default when it began to fail, or a day ago */
  since?: string | undefined
  onClose: () => void
}) {
  const [what, setWhat] = useState('missing')
  const [since, setSince] = useState(() =>
    toLocal(from ?? webhook.failingSince ?? new Date(Date.now() - DAY_MS).toISOString()),
  )
  const [until, setUntil] = useState('')
  const [perSecond, setPerSecond] = useState('')
  const input = {
    id: webhook.id,
    what: what as CallInput<'webhooks.recover'>['what'],
    since: since && fromLocal(since),
    ...(until && { until: fromLocal(until) }),
    ...(Number(perSecond) > 0 && { perSecond: Number(perSecond) }),
  }
  const preview = useCall('webhooks.recover', since ? { ...input, dryRun: true } : null)
  const found = preview.data?.deliveries
  const all = preview.data?.atLeast ? 'more than ' : ''
  return (
    <FormDialog
      title={title}
      submit={found ? `Send ${all}${plural(found, 'delivery', 'deliveries')}` : 'Send'}
      disabled={!found}
      call="webhooks.recover"
      input={() => input}
      done={({ deliveries }) => `${plural(deliveries, 'delivery', 'deliveries')} on their way`}
      // That screen shows the progress.
      onDone={() => go(href(`webhooks/${webhook.id}`))}
      onClose={onClose}
    >
      <Select label="What" value={what} onValue={setWhat} choices={WHAT} />
      <div class="pair">
        <TextField label="From" type="datetime-local" value={since} onValue={setSince} />
        <TextField
          label="Until (empty: now)"
          type="datetime-local"
          value={until}
          onValue={setUntil}
        />
        <TextField
          label="At most a second"
          value={perSecond}
          onValue={setPerSecond}
          placeholder="As fast as it takes"
        />
      </div>
      {preview.problem && <ProblemNote problem={preview.problem} />}
      {found !== undefined && (
        <Note kind={found > 0 ? 'info' : 'ok'}>
          {found > 0
            ? `${all}${plural(found, 'delivery', 'deliveries')} would be sent.`
            : 'Nothing of that kind in this span.'}
        </Note>
      )}
    </FormDialog>
  )
}
