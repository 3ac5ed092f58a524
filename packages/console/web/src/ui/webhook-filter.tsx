import type { Webhook } from '../server/contract.ts'
import { useWebhooks, webhookName } from '../screens/use-webhooks.ts'
import { href } from '../state/router.ts'
import { shortId } from '../text/format.ts'
import { Link } from './button.tsx'
import { ChoiceFilter, TextFilter } from './filter-bar.tsx'

/** A choice of names where there are few webhooks; else a field for the id. */
export function WebhookFilter({
  value,
  onValue,
}: {
  value: string
  onValue: (id: string) => void
}) {
  const { items, whole } = useWebhooks()
  if (!whole || (value && !items.some(({ id }) => id === value))) {
    return <TextFilter label="Webhook id" value={value} onValue={onValue} placeholder="Any" />
  }
  const choices = items.map((webhook) => ({ value: webhook.id, label: webhookName(webhook) }))
  return <ChoiceFilter label="Webhook" value={value} choices={choices} onValue={onValue} />
}

export const WebhookName = ({ id, webhook }: { id: string; webhook: Webhook | undefined }) => (
  <Link to={href(`webhooks/${id}`)} class={webhook ? 'cut' : 'mono'}>
    <span class="unseen">webhook </span>
    <bdi>{webhook ? webhookName(webhook) : shortId(id)}</bdi>
  </Link>
)
