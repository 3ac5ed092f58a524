import { useState } from 'preact/hooks'
import type { Webhook } from '../../server/contract.ts'
import { useCall, useChange } from '../../state/queries.ts'
import { changesFrom, draftOf } from '../../text/webhook-draft.ts'
import { Loading, ProblemNote } from '../../ui/notes.tsx'
import { say } from '../../ui/toasts.tsx'
import { WebhookForm } from './webhook-form.tsx'

/**
 * The values of its headers are loaded by another call: a list and a get mask them. The form keeps
 * the webhook as it was when the form was opened or saved, whatever others change meanwhile.
 */
export function EditWebhook({ webhook }: { webhook: Webhook }) {
  const { id } = webhook
  const [opened, setOpened] = useState(webhook)
  const saving = useChange('webhooks.update', (saved) => {
    say('Saved')
    setOpened(saved)
  })
  const secrets = useCall('webhooks.secrets', opened.headers ? { id } : null, {
    key: [id, opened.updatedAt],
  })
  if (secrets.problem) return <ProblemNote problem={secrets.problem} retry={secrets.reload} />
  if (secrets.loading) return <Loading />
  const initial = draftOf(opened, secrets.data?.headers ?? null)
  return (
    <WebhookForm
      key={opened.updatedAt}
      initial={initial}
      isNew={false}
      change={saving}
      onSubmit={(draft) => saving.run({ id, ...changesFrom(initial, draft) })}
    />
  )
}
