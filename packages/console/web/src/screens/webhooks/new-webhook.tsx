import { useState } from 'preact/hooks'
import type { CallResult } from '../../server/contract.ts'
import { useChange } from '../../state/queries.ts'
import { go, href, usePlace } from '../../state/router.ts'
import { emptyDraft, readDraft, type Draft } from '../../text/webhook-draft.ts'
import { Screen } from '../../ui/layout.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { WebhookForm } from './webhook-form.tsx'

export function NewWebhookScreen() {
  const { query } = usePlace()
  const [created, setCreated] = useState<CallResult<'webhooks.create'>>()
  const creating = useChange('webhooks.create', setCreated)
  const event = query.get('event')
  const create = (draft: Draft) => {
    const read = readDraft(draft)
    if ('body' in read) creating.run(withoutNulls(read.body))
  }
  return (
    <Screen title="New webhook" back={{ to: href('webhooks'), label: 'Webhooks' }}>
      <WebhookForm
        initial={{ ...emptyDraft, tenant: query.get('tenant') ?? '', events: event ? [event] : [] }}
        isNew
        isSaved={created !== undefined}
        change={creating}
        onSubmit={create}
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
