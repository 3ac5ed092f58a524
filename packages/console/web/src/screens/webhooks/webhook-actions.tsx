/** What can be done with a webhook: test, pause, rotate, recover, delete. */
import { useState } from 'preact/hooks'
import type { Webhook } from '../../server/contract.ts'
import { call } from '../../server/call.ts'
import { go, href } from '../../state/router.ts'
import { useChange } from '../../state/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { ProblemNote } from '../../ui/notes.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { say } from '../../ui/toasts.tsx'
import { useCatalogue } from '../use-catalogue.ts'
import { RecoverDialog } from './recover-dialog.tsx'

type Asked = 'test' | 'rotate' | 'recover' | 'delete' | null

export function WebhookActions({
  webhook,
  onChanged,
}: {
  webhook: Webhook
  onChanged: () => void
}) {
  const [asked, setAsked] = useState<Asked>(null)
  const pausing = useChange()
  const close = () => setAsked(null)
  const setActive = async (active: boolean) => {
    const changed = await pausing.run(() => call('webhooks.update', { id: webhook.id, active }))
    if (!changed) return
    say(active ? 'Resumed: what waited is sent' : 'Paused: its deliveries wait')
    onChanged()
  }
  return (
    <>
      <Button onClick={() => setAsked('test')}>Send a test</Button>
      <Button busy={pausing.busy} onClick={() => void setActive(!webhook.active)}>
        {webhook.active ? 'Pause' : 'Resume'}
      </Button>
      <Button onClick={() => setAsked('recover')}>Recover</Button>
      <Button onClick={() => setAsked('rotate')}>Rotate secret</Button>
      <Button kind="danger" onClick={() => setAsked('delete')}>
        Delete
      </Button>
      {pausing.problem && <ProblemNote problem={pausing.problem} />}
      {asked === 'test' && <TestDialog webhook={webhook} onClose={close} />}
      {asked === 'rotate' && <RotateDialog id={webhook.id} onClose={close} />}
      {asked === 'recover' && <RecoverDialog webhook={webhook} onClose={close} />}
      {asked === 'delete' && <DeleteDialog webhook={webhook} onClose={close} />}
    </>
  )
}

function TestDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { data } = useCatalogue()
  const [event, setEvent] = useState('')
  const { busy, problem, run } = useChange()
  const examples = (data?.items ?? []).filter(({ example }) => example !== null)
  const send = async () => {
    const sent = await run(() => call('webhooks.test', { id: webhook.id, ...(event && { event }) }))
    if (!sent) return
    say('Test queued')
    onClose()
    go(href(`webhooks/${webhook.id}/deliveries`))
  }
  return (
    <FormDialog
      title="Send a test"
      submit="Send"
      busy={busy}
      problem={problem}
      onSubmit={() => void send()}
      onClose={onClose}
    >
      <p>
        One event goes to this webhook alone, signed as any other.
        {!webhook.active && ' The webhook is not active: the test waits until it is.'}
      </p>
      <Select
        label="Event"
        value={event}
        onValue={setEvent}
        choices={[
          { value: '', label: 'webhook.test' },
          ...examples.map(({ name }) => ({ value: name, label: `${name} (its example)` })),
        ]}
      />
    </FormDialog>
  )
}

export const OVERLAPS = [
  { value: '0', label: 'at once' },
  { value: '3600', label: 'in an hour' },
  { value: '86400', label: 'in a day' },
  { value: '604800', label: 'in a week' },
]

function RotateDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [overlap, setOverlap] = useState('86400')
  const [secret, setSecret] = useState('')
  const { busy, problem, run } = useChange()
  const rotate = async () => {
    const rotated = await run(() =>
      call('webhooks.rotateSecret', { id, overlapSeconds: Number(overlap) }),
    )
    if (rotated) setSecret(rotated.secret)
  }
  if (secret) {
    return (
      <SecretDialog title="The new secret" secret={secret} what="secret" onClose={onClose}>
        Deliveries are signed with it from now on. Give it to whoever runs the receiver.
      </SecretDialog>
    )
  }
  return (
    <FormDialog
      title="Rotate the secret"
      submit="Rotate"
      busy={busy}
      problem={problem}
      onSubmit={() => void rotate()}
      onClose={onClose}
    >
      <p>Deliveries are signed with the new secret and, for a while, with the old one as well.</p>
      <Select label="The old secret ends" value={overlap} onValue={setOverlap} choices={OVERLAPS} />
    </FormDialog>
  )
}

function DeleteDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const { busy, problem, run } = useChange()
  const remove = async () => {
    if (!(await run(() => call('webhooks.delete', { id: webhook.id })))) return
    say('Deleted')
    go(href('webhooks'))
  }
  return (
    <FormDialog
      title="Delete this webhook"
      submit="Delete"
      kind="danger"
      busy={busy}
      problem={problem}
      disabled={typed.trim() !== 'delete'}
      onSubmit={() => void remove()}
      onClose={onClose}
    >
      <p>
        Its waiting deliveries and its dead letters go with it. Nothing brings them back; to stop
        deliveries for a while, pause it.
      </p>
      <TextField label="Type “delete” to confirm" value={typed} onValue={setTyped} />
    </FormDialog>
  )
}
