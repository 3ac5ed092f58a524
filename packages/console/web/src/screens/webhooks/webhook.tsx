/** One webhook: its results, its deliveries, its settings, and the actions on it. */
import type { Webhook } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { useCall, usePages } from '../../state/queries.ts'
import { href } from '../../state/router.ts'
import { webhookState } from '../../text/states.ts'
import { attemptsTable } from '../../ui/attempts-table.tsx'
import { Link } from '../../ui/button.tsx'
import { Badge, ExactTime, Id } from '../../ui/facts.tsx'
import { Panel, Screen, Tabs } from '../../ui/layout.tsx'
import { Answered, Empty, Note } from '../../ui/notes.tsx'
import { PagedTable } from '../../ui/table.tsx'
import { EditWebhook } from './edit-webhook.tsx'
import { NewWebhookScreen } from './new-webhook.tsx'
import { WebhookActions } from './webhook-actions.tsx'
import { WebhookOverview } from './webhook-overview.tsx'

const TABS = [
  ['', 'Overview'],
  ['deliveries', 'Deliveries'],
  ['dead-letters', 'Dead letters'],
  ['settings', 'Settings'],
] as const

export const WebhookScreen = ({ id, tab }: { id: string; tab: string }) =>
  id === 'new' ? <NewWebhookScreen /> : <OneWebhook id={id} tab={tab} />

function OneWebhook({ id, tab }: { id: string; tab: string }) {
  const { may } = useSession()
  const answer = useCall('webhooks.get', { id })
  const { data: webhook } = answer
  const tabs = TABS.filter(
    ([path]) =>
      (path !== 'settings' || may('webhooks:write')) &&
      (path === '' || path === 'settings' || may('deliveries:read')),
  )
  return (
    <Screen
      title={<bdi>{webhook?.label ?? webhook?.url ?? 'Webhook'}</bdi>}
      back={{ to: href('webhooks'), label: 'Webhooks' }}
      about={webhook && <Heading webhook={webhook} />}
      actions={webhook && may('webhooks:write') && <WebhookActions webhook={webhook} />}
    >
      <Answered of={answer}>
        {(webhook) => (
          <>
            <WebhookProblem webhook={webhook} />
            <Tabs
              label="Views of this webhook"
              tabs={tabs.map(([path, name]) => ({
                to: href(`webhooks/${id}${path && `/${path}`}`),
                name,
                current: path === tab,
              }))}
            />
            {tab === '' && <WebhookOverview webhook={webhook} />}
            {tab === 'deliveries' && <Deliveries id={id} dead={false} />}
            {tab === 'dead-letters' && <Deliveries id={id} dead />}
            {tab === 'settings' && <EditWebhook webhook={webhook} />}
          </>
        )}
      </Answered>
    </Screen>
  )
}

function Heading({ webhook }: { webhook: Webhook }) {
  const { tone, word } = webhookState(webhook)
  return (
    <span class="heading-facts">
      <Badge tone={tone}>{word}</Badge>
      {webhook.label && <bdi class="mono">{webhook.url ?? 'no address'}</bdi>}
      <Id id={webhook.id} what="webhook id" />
    </span>
  )
}

function WebhookProblem({
  webhook: { active, disabledReason, failingSince },
}: {
  webhook: Webhook
}) {
  if (!active && disabledReason) {
    return (
      <Note kind="bad">
        <b>Disabled: {disabledReason}. </b>Its deliveries wait. When the receiver is mended, resume
        it: what waited is sent, then what it missed.
      </Note>
    )
  }
  if (!active) {
    return (
      <Note kind="info">
        <b>Paused. </b>Deliveries that wait are sent when it is resumed. Events that are published
        meanwhile are not sent to it.
      </Note>
    )
  }
  if (failingSince) {
    return (
      <Note kind="warn">
        <b>
          Every attempt has failed since <ExactTime at={failingSince} />.{' '}
        </b>
        See the last answers under Deliveries.
      </Note>
    )
  }
  return null
}

function Deliveries({ id, dead }: { id: string; dead: boolean }) {
  const pages = usePages(dead ? 'deadLetters.list' : 'deliveries.list', { webhookId: id })
  return (
    <>
      <p class="after-tabs">
        <Link to={href(dead ? 'dead-letters' : 'deliveries', { webhookId: id })}>
          {dead ? 'Choose and redrive' : 'Filter them'}
        </Link>
      </p>
      <Panel flush>
        <PagedTable
          {...attemptsTable(dead ? ['webhook', 'status', 'next'] : ['webhook', 'next'])}
          pages={pages}
          empty={
            dead ? (
              <Empty title="No dead letters">
                Every delivery arrived, or is still being tried.
              </Empty>
            ) : (
              <Empty title="No deliveries yet">Send a test to see the first one.</Empty>
            )
          }
        />
      </Panel>
    </>
  )
}
