import { useState } from 'preact/hooks'
import { call } from '../../server/call.ts'
import type { Webhook } from '../../server/contract.ts'
import { useChange } from '../../state/use-change.ts'
import { useQuery } from '../../state/use-query.ts'
import { changesFrom, draftOf, type Draft } from '../../text/webhook-draft.ts'
import { Loading, ProblemNote } from '../../ui/notes.tsx'
import { say } from '../../ui/toasts.tsx'
import { WebhookForm } from './webhook-form.tsx'

/**
 * The values of its headers are loaded by another call: a list and a get mask them. The form keeps
 * the webhook as it was when the form was opened or saved, whatever others change meanwhile.
 */
export function EditWebhook({ webhook, onChanged }: { webhook: Webhook; onChanged: () => void }) {
  const { id } = webhook
  const [opened, setOpened] = useState(webhook)
  const { busy, problem, run } = useChange()
  const secrets = useQuery(opened.headers ? `${id}/${opened.updatedAt}` : null, (signal) =>
    call('webhooks.secrets', { id }, signal),
  )
  if (secrets.problem) return <ProblemNote problem={secrets.problem} retry={secrets.reload} />
  if (secrets.loading) return <Loading />
  const initial = draftOf(opened, secrets.data?.headers ?? null)
  const save = async (draft: Draft) => {
    const saved = await run(() => call('webhooks.update', { id, ...changesFrom(initial, draft) }))
    if (!saved) return
    say('Saved')
    setOpened(saved)
    onChanged()
  }
  return (
    <WebhookForm
      key={opened.updatedAt}
      initial={initial}
      isNew={false}
      busy={busy}
      problem={problem}
      onSubmit={(draft) => void save(draft)}
    />
  )
}
