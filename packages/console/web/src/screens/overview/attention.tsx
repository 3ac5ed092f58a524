/** Webhooks, dead letters, sources and keys that need a person's attention, each with a link to its screen. */
import type { ComponentChildren } from 'preact'
import type { Attempt, CallResult, Count, Webhook, WebhookState } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { useSources, useWebhooks, webhookName } from '../../state/names.ts'
import { useCall } from '../../state/queries.ts'
import { href } from '../../state/router.ts'
import { ago, plural, shortId } from '../../text/format.ts'
import { ButtonLink, Link } from '../../ui/button.tsx'
import { Badge, type Tone } from '../../ui/facts.tsx'
import { Panel } from '../../ui/layout.tsx'
import { Loading, Note, ProblemNote } from '../../ui/notes.tsx'

interface AttentionItem {
  key: string
  tone: Tone
  word: string
  what: ComponentChildren
  to: string
  action: string
}

const MOST = 6
const SOON_DAYS = 7
const MOST_KEYS = 3

/**
 * What is shown are the newest of each kind, the worst first; the counts are of all. What is below it is read meanwhile,
 * and shown after it: it would move.
 */
export function Attention({ children }: { children: ComponentChildren }) {
  const { session, may } = useSession()
  const { auth, webhooks } = session.features
  // A key that was made for a few days ends as it is meant to.
  const soon = { expiresWithinDays: SOON_DAYS, lifetimeOverDays: SOON_DAYS, limit: MOST_KEYS }
  const expiring = useCall('keys.list', auth && may('keys:read') ? soon : null)
  const sources = useSources()
  const names = useWebhooks()
  const sees = webhooks && may('webhooks:read')
  const disabled = useWebhooksOf('disabled', sees)
  const failing = useWebhooksOf('failing', sees)
  const readable = sees && may('deliveries:read')
  const letters = useCall('deadLetters.list', readable ? { limit: 200 } : null)
  const letterCount = useCall('deadLetters.count', readable ? {} : null)
  const isRead = !sees || (names.whole !== undefined && disabled.data && failing.data)
  const problem = disabled.problem ?? failing.problem ?? names.problem
  const isWaiting =
    !problem &&
    (!isRead || sources.loading || expiring.loading || letters.loading || letterCount.loading)
  const unwell = [...(disabled.data?.items ?? []), ...(failing.data?.items ?? [])]
  const items = [
    ...keysThatEnd(expiring.data),
    ...failingWebhooks(unwell),
    ...deadLetters(letters.data?.items ?? [], letters.data?.next === null, [
      ...unwell,
      ...names.items,
    ]),
    ...sourcesToLookAt(sources),
  ].toSorted((one, other) => Number(other.tone === 'bad') - Number(one.tone === 'bad'))
  return (
    <>
      {isWaiting && (
        <Panel flush>
          <Loading like="rows" />
        </Panel>
      )}
      {/* Else it would look as if nothing needed any. */}
      {!isRead && problem && (
        <Panel title="Needs attention">
          <ProblemNote problem={problem} />
        </Panel>
      )}
      {!isWaiting &&
        isRead &&
        sees &&
        names.items.length === 0 &&
        session.can.includes('webhooks:write') && (
          <Note
            kind="info"
            action={
              <ButtonLink to={href('webhooks/new')} kind="primary">
                Create the first
              </ButtonLink>
            }
          >
            No webhook is registered yet: events have nowhere to go.
          </Note>
        )}
      {!isWaiting && isRead && items.length > 0 && (
        <Panel title="Needs attention">
          <ul class="attention">
            {items.slice(0, MOST).map(({ key, tone, word, what, to, action }) => (
              <li key={key}>
                <span class="matter">
                  <Badge tone={tone}>{word}</Badge> <span>{what}</span>
                </span>
                <ButtonLink to={to}>{action}</ButtonLink>
              </li>
            ))}
          </ul>
          {disabled.data && failing.data && (
            <p class="hint in-all">
              In all:{' '}
              <Link
                to={href('webhooks', { state: 'disabled' })}
              >{`${numbered(disabled.data)} disabled`}</Link>
              ,{' '}
              <Link
                to={href('webhooks', { state: 'failing' })}
              >{`${numbered(failing.data)} failing`}</Link>
              {letterCount.data && (
                <>
                  ,{' '}
                  <Link
                    to={href('dead-letters')}
                  >{`${numbered(letterCount.data)} dead letters`}</Link>
                </>
              )}
            </p>
          )}
        </Panel>
      )}
      <div hidden={isWaiting}>{children}</div>
    </>
  )
}

/** One line for all. */
function keysThatEnd(keys: CallResult<'keys.list'> | undefined): AttentionItem[] {
  if (!keys || keys.items.length === 0) return []
  const isMore = keys.next !== null
  return [
    {
      key: 'expiring',
      tone: 'warn',
      word: `${isMore ? 'at least ' : ''}${plural(keys.items.length, 'key expires', 'keys expire')}`,
      what: keys.items.map(({ id, label, keyPrefix, expiresAt }, at) => (
        <span key={id}>
          {at > 0 && ', '}
          <bdi>{label ?? `${keyPrefix}…`}</bdi> {ago(expiresAt ?? '')}
        </span>
      )),
      to: href('keys', { expiresWithinDays: String(SOON_DAYS) }),
      action: 'Look',
    },
  ]
}

function useWebhooksOf(state: WebhookState, sees: boolean) {
  const newest = useCall('webhooks.list', sees ? { state, limit: MOST } : null)
  const count = useCall('webhooks.count', sees ? { state } : null)
  return {
    data: newest.data && count.data && { ...newest.data, ...count.data },
    problem: newest.problem ?? count.problem,
  }
}

export const numbered = ({ count, atLeast }: Count): string =>
  atLeast ? `more than ${count}` : String(count)

/** Sources whose requests were refused within a day, or that send nothing any more. */
function* sourcesToLookAt({ sources }: ReturnType<typeof useSources>): Generator<AttentionItem> {
  for (const { source, acceptedAt, isQuiet, refused } of sources) {
    const item = { tone: 'warn', action: 'Look' } as const
    if (refused.at)
      yield {
        ...item,
        key: `refused-${source}`,
        word: `${numbered(refused)} refused`,
        what: (
          <>
            <bdi>{source}</bdi>, last {ago(refused.at)}: <bdi>{refused.reason}</bdi>
          </>
        ),
        to: href('inbound', { source, outcome: 'refused' }),
      }
    if (isQuiet)
      yield {
        ...item,
        key: `quiet-${source}`,
        word: 'Quiet',
        what: (
          <>
            <bdi>{source}</bdi>
            {acceptedAt ? `, last accepted ${ago(acceptedAt)}` : ''}: it usually sends more often
          </>
        ),
        to: href('inbound', { source }),
      }
  }
}

/** Who is of a tenant sees no other. */
function OfTenant({ name }: { name: string }) {
  const { session } = useSession()
  if (!session.operator) return null
  return (
    <span class="faint">
      {' '}
      of <bdi>{name}</bdi>
    </span>
  )
}

const nameOf = ({ label, url, tenant }: Webhook) => (
  <>
    <bdi>{webhookName({ label, url })}</bdi>
    {tenant !== null && <OfTenant name={tenant} />}
  </>
)

function* failingWebhooks(webhooks: readonly Webhook[]): Generator<AttentionItem> {
  for (const webhook of webhooks) {
    const { id, active, disabledReason, disabledAt, failingSince } = webhook
    const to = href(`webhooks/${id}`)
    if (!active && disabledReason)
      yield {
        key: id,
        tone: 'bad',
        word: 'Disabled',
        what: (
          <>
            {nameOf(webhook)} was disabled{disabledAt ? ` ${ago(disabledAt)}` : ''}
          </>
        ),
        to,
        action: 'Look and resume',
      }
    else if (active && failingSince)
      yield {
        key: id,
        tone: 'warn',
        word: 'Failing',
        what: (
          <>
            {nameOf(webhook)} began to fail {ago(failingSince)}
          </>
        ),
        to: `${to}/deliveries`,
        action: 'See why',
      }
  }
}

/** `isAll`: there are no others. */
function deadLetters(
  letters: readonly Attempt[],
  isAll: boolean,
  webhooks: readonly Webhook[],
): AttentionItem[] {
  const byWebhook = [...Map.groupBy(letters, ({ webhookId }) => webhookId)]
  return byWebhook.map(([webhookId, of]) => {
    const webhook = webhooks.find(({ id }) => id === webhookId)
    return {
      key: `dead-${webhookId}`,
      tone: 'bad',
      word: `${isAll ? '' : 'at least '}${plural(of.length, 'dead letter')}`,
      what: webhook ? nameOf(webhook) : <span class="mono">{shortId(webhookId)}</span>,
      to: href('dead-letters', { webhookId }),
      action: 'Redrive',
    }
  })
}
