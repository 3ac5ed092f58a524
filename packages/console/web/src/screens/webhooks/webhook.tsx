/** One webhook: its results, its deliveries, its settings, and the actions on it. */
import type { Webhook } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { useCall } from '../../state/queries.ts'
import { cameFrom, href } from '../../state/router.ts'
import { DELIVERY_STATES, webhookState } from '../../text/states.ts'
import { deliveriesTable } from '../../ui/attempts-table.tsx'
import { plural } from '../../text/format.ts'
import { webhookName } from '../../state/names.ts'
import { Link } from '../../ui/button.tsx'
import { Badge, Copy, ExactTime, Id } from '../../ui/facts.tsx'
import { Panel, Screen, Tabs } from '../../ui/layout.tsx'
import { Answered, Empty, Note } from '../../ui/notes.tsx'
import { EVENT, SPAN } from '../../ui/filters.tsx'
import { FilteredList, useList } from '../../ui/list-screen.tsx'
import { ByWhom } from '../audit.tsx'
import { EditWebhook } from './edit-webhook.tsx'
import { NewWebhookScreen } from './new-webhook.tsx'
import { Verify } from './verify.tsx'
import { WebhookActions } from './webhook-actions.tsx'
import { WebhookOverview } from './webhook-overview.tsx'

const TABS = [
  ['', 'Overview'],
  ['deliveries', 'Deliveries'],
  ['dead-letters', 'Dead letters'],
  ['verify', 'How to verify'],
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
      (['', 'settings', 'verify'].includes(path) || may('deliveries:read')),
  )
  return (
    <Screen
      title={<bdi>{webhook ? webhookName(webhook) : 'Webhook'}</bdi>}
      view={tab && (TABS.find(([path]) => path === tab)?.[1] ?? '')}
      back={{ to: cameFrom('webhooks'), label: 'Webhooks' }}
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
            {tab === 'verify' && <Verify webhook={webhook} />}
            {tab === 'settings' && <EditWebhook webhook={webhook} />}
            {!tabs.some(([path]) => path === tab) && (
              <Panel>
                <Empty title="There is no such page">
                  Its address may be mistyped, or your session does not reach it.
                </Empty>
              </Panel>
            )}
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
      <span class="id">
        <bdi class="mono">{webhook.url ?? 'no address'}</bdi>
        {webhook.url !== null && <Copy text={webhook.url} what="address" />}
      </span>
      <Id id={webhook.id} what="webhook id" />
    </span>
  )
}

const WHY: Record<string, string> = {
  gone: 'its receiver answered 410 (gone)',
  failures: 'every attempt had failed for too long',
}

function WebhookProblem({
  webhook: { id, active, disabledReason, disabledAt, failingSince, waiting },
}: {
  webhook: Webhook
}) {
  const waits =
    waiting === 0
      ? 'No delivery waits.'
      : `${plural(waiting, 'delivery waits', 'deliveries wait')}.`
  if (!active && disabledReason) {
    return (
      <Note kind="bad">
        <b>Disabled: {WHY[disabledReason] ?? disabledReason}</b>
        {disabledAt && (
          <>
            , on <ExactTime at={disabledAt} />
          </>
        )}
        . {waits} When the receiver is mended, resume it: what waited is sent, then what it missed.
      </Note>
    )
  }
  if (!active) {
    return (
      <Note kind="info">
        <b>Paused</b>
        <ByWhom
          target={id}
          action="webhook.update"
          when={({ changes }) => changes?.['active']?.to === false}
          exact
        />
        . {waits} What waits is sent when it is resumed. Events that are published meanwhile are not
        sent to it.
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

const FILTERS = [EVENT, ...SPAN]

function Deliveries({ id, dead }: { id: string; dead: boolean }) {
  const list = useList(
    dead ? 'deadLetters.list' : 'deliveries.list',
    dead ? FILTERS : [{ name: 'status', label: 'State', choices: DELIVERY_STATES }, ...FILTERS],
    (given) => ({ ...given, webhookId: id, latest: true }),
  )
  return (
    <FilteredList
      list={list}
      {...deliveriesTable(dead ? ['webhook', 'status'] : ['webhook'])}
      unmatched="Nothing matches these filters"
      empty={
        dead ? (
          <Empty title="No dead letters">Every delivery arrived, or is still being tried.</Empty>
        ) : (
          <Empty title="No deliveries yet">Send a test to see the first one.</Empty>
        )
      }
    >
      {dead && (
        <p class="after-tabs">
          <Link to={href('dead-letters', { webhookId: id })}>Choose and redrive</Link>
        </p>
      )}
    </FilteredList>
  )
}
