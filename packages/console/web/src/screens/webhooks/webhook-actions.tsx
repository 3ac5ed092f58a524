/** What can be done with a webhook: test, pause, rotate, recover, delete. */
import { useState } from 'preact/hooks'
import type { Webhook } from '../../server/contract.ts'
import { useChange } from '../../state/queries.ts'
import { go, href } from '../../state/router.ts'
import { Button } from '../../ui/button.tsx'
import { DeleteDialog } from '../../ui/delete-dialog.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { ProblemNote } from '../../ui/notes.tsx'
import { RotateDialog } from '../../ui/rotate-dialog.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { say } from '../../ui/toasts.tsx'
import { Composer } from './composer.tsx'
import { RecoverDialog } from './recover-dialog.tsx'

type DialogName = 'test' | 'pause' | 'rotate' | 'recover' | 'missed' | 'delete' | null

export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { id } = webhook
  const [dialog, setDialog] = useState<DialogName>(null)
  // The pause began at the latest change, or before it.
  const [pausedAt, setPausedAt] = useState<string>()
  const close = () => setDialog(null)
  // What a disabled webhook missed is sent without being asked for.
  const resuming = useChange('webhooks.update', () => {
    say('Resumed: what waited is sent')
    setDialog(webhook.disabledReason === null ? 'missed' : null)
  })
  const resume = () => {
    setPausedAt(webhook.updatedAt)
    resuming.run({ id, active: true })
  }
  return (
    <>
      <Button onClick={() => setDialog('test')}>Send a test</Button>
      {webhook.active ? (
        <Button onClick={() => setDialog('pause')}>Pause</Button>
      ) : (
        <Button kind="primary" busy={resuming.busy} onClick={resume}>
          Resume
        </Button>
      )}
      <Button onClick={() => setDialog('recover')}>Recover</Button>
      <Button onClick={() => setDialog('rotate')}>Rotate secret</Button>
      <Button kind="danger" onClick={() => setDialog('delete')}>
        Delete
      </Button>
      {resuming.problem && <ProblemNote problem={resuming.problem} />}
      {dialog === 'pause' && (
        <FormDialog
          title="Pause this webhook"
          submit="Pause"
          call="webhooks.update"
          input={() => ({ id, active: false })}
          done={() => 'Paused'}
          onClose={close}
        >
          <p>
            Deliveries that wait are kept, and are sent when it is resumed. Events that are
            published while it is paused are not sent to it: to send those too, recover them after
            resuming.
          </p>
        </FormDialog>
      )}
      {dialog === 'missed' && (
        <RecoverDialog
          webhook={webhook}
          title="Send what it missed while it was paused"
          what="missing"
          since={pausedAt}
          onClose={close}
        />
      )}
      {dialog === 'test' && <Composer webhook={webhook} onClose={close} />}
      {dialog === 'rotate' && (
        <RotateDialog
          title="Rotate the secret"
          call="webhooks.rotateSecret"
          id={id}
          old="The old secret"
          shown={({ secret }) => (
            <SecretDialog title="The new secret" secret={secret} what="secret" onClose={close}>
              Deliveries are signed with it from now on. Give it to whoever runs the receiver.
            </SecretDialog>
          )}
          onClose={close}
        >
          Deliveries are signed with the new secret and, for a while, with the old one as well. An
          older one goes on until its own time ends; without a time, all old ones end now.
        </RotateDialog>
      )}
      {dialog === 'recover' && <RecoverDialog webhook={webhook} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteDialog
          title="Delete this webhook"
          call="webhooks.delete"
          id={id}
          done="Deleted"
          onDone={() => go(href('webhooks'))}
          onClose={close}
        >
          Its waiting deliveries and its dead letters go with it. Nothing brings them back; to stop
          deliveries for a while, pause it.
        </DeleteDialog>
      )}
    </>
  )
}
