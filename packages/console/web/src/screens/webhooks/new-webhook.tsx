import { useState } from 'preact/hooks'
import type { CallResult } from '../../server/contract.ts'
import { call } from '../../server/call.ts'
import { go, href, usePlace } from '../../state/router.ts'
import { useChange } from '../../state/use-change.ts'
import { emptyDraft, readDraft, type Draft } from '../../text/webhook-draft.ts'
import { Screen } from '../../ui/layout.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { WebhookForm } from './webhook-form.tsx'

export function NewWebhookScreen() {
  const { query } = usePlace()
  const { busy, problem, run } = useChange()
  const [created, setCreated] = useState<CallResult<'webhooks.create'>>()
  const event = query.get('event')
  const create = async (draft: Draft) => {
    const read = readDraft(draft)
    if (!('body' in read)) return
    setCreated(await run(() => call('webhooks.create', withoutNulls(read.body))))
  }
  return (
    <Screen title="New webhook" back={{ to: href('webhooks'), label: 'Webhooks' }}>
      <WebhookForm
        initial={{ ...emptyDraft, tenant: query.get('tenant') ?? '', events: event ? [event] : [] }}
        isNew
        busy={busy}
        problem={problem}
        onSubmit={(draft) => void create(draft)}
      />
      {created && (
        <SecretDialog
          title="The webhook is made"
          secret={created.secret}
          what="secret"
          onClose={() => go(href(`webhooks/${created.id}`))}
        >
          Deliveries are signed with this secret. Give it to whoever runs the receiver; it can be
          read again on the page of the webhook.
        </SecretDialog>
      )}
    </Screen>
  )
}

const withoutNulls = <Of extends object>(of: Of): Of =>
  Object.fromEntries(
    Object.entries(of).filter(([, value]) => value !== null && value !== false),
  ) as Of
