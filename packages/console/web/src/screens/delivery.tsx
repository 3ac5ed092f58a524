/** One delivery, with one of its attempts in full: what was sent, what came back, what follows. */
import { useState } from 'preact/hooks'
import type { Attempt, Delivery, RequestOfAttempt } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { useCall, useChange } from '../state/queries.ts'
import { cameFrom, href, pathOf, usePlace } from '../state/router.ts'
import { bytes, duration, isDue, plural } from '../text/format.ts'
import { errorMeaning, statusTone, statusWord } from '../text/states.ts'
import { Button, ButtonLink, Link } from '../ui/button.tsx'
import { Code, MaybeJson } from '../ui/code.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { Badge, Copy, ExactTime, Facts, Id, Time } from '../ui/facts.tsx'
import { TextField } from '../ui/field.tsx'
import { Panel, Screen, useCurrentInSight } from '../ui/layout.tsx'
import { Answered, Note, ProblemNote } from '../ui/notes.tsx'
import { attemptHref, NextAttempt, WebhookName } from '../ui/attempts-table.tsx'
import { besides } from '../ui/table.tsx'
import { say } from '../ui/toasts.tsx'
import { eventHref } from './events.tsx'
import { Result } from './webhooks/composer.tsx'
import { RecoverDialog } from './webhooks/recover-dialog.tsx'

/** Where deliveries are opened from. */
const LISTS: Record<string, string> = {
  deliveries: 'Deliveries',
  'dead-letters': 'Dead letters',
  webhooks: 'Webhook',
  events: 'Event',
}
const IS_LIST = /^(deliveries|dead-letters|(webhooks|events)\/.+)$/

export function DeliveryScreen(ids: { webhookId: string; deliveryId: string }) {
  const { may, session } = useSession()
  const { query } = usePlace()
  const [asking, setAsking] = useState<'again' | 'recover' | null>(null)
  const [sent, setSent] = useState<string>()
  const delivery = useCall('deliveries.get', ids)
  const { data } = delivery
  const began = data?.attempts.at(-1)?.attemptedAt
  const attempt = data?.attempts.find(({ id }) => id === query.get('attempt')) ?? data?.attempts[0]
  const back = cameFrom('deliveries', IS_LIST)
  const { newer, older } = besides()
  return (
    <Screen
      title={data ? <bdi>{data.event}</bdi> : 'Delivery'}
      back={{ to: back, label: LISTS[pathOf(back).split('/')[0] ?? ''] ?? 'Back' }}
      about={<Id id={ids.deliveryId} what="delivery id" whole />}
      actions={
        <>
          {newer && <ButtonLink to={newer}>Newer</ButtonLink>}
          {older && <ButtonLink to={older}>Older</ButtonLink>}
          {may('deliveries:write') && (
            <>
              <Button onClick={() => setAsking('again')}>Send again</Button>
              {began && <Button onClick={() => setAsking('recover')}>Recover from here</Button>}
            </>
          )}
        </>
      }
    >
      {sent && (
        <Panel title="Sent again">
          <Result webhookId={ids.webhookId} deliveryId={sent} />
        </Panel>
      )}
      <Answered of={delivery}>
        {(data) =>
          attempt && (
            <>
              <NextStep attempt={data.attempts[0] ?? attempt} />
              <Chain delivery={data} shown={attempt} />
              <AttemptPanel attempt={attempt} />
              <div class="columns">
                <RequestPanel delivery={data} attempt={attempt} />
                <AnswerPanel attempt={attempt} />
              </div>
            </>
          )
        }
      </Answered>
      {asking === 'again' && (
        <Redeliver
          ids={ids}
          isDead={data?.status === 'dead'}
          elsewhere={session.isAdmin}
          onDone={setSent}
          onClose={() => setAsking(null)}
        />
      )}
      {asking === 'recover' && (
        <RecoverDialog
          webhook={{ id: ids.webhookId }}
          title="Recover what did not arrive from here on"
          since={began}
          onClose={() => setAsking(null)}
        />
      )}
    </Screen>
  )
}

function NextStep({
  attempt: { status, nextAttemptAt, error, webhookId, deliveryId },
}: {
  attempt: Attempt
}) {
  if (status === 'failed') {
    return (
      <Note kind="warn">
        <b>It will be tried again </b>
        {nextAttemptAt && isDue(nextAttemptAt) ? (
          'any moment'
        ) : (
          <Time at={nextAttemptAt} none="when the webhook is active" />
        )}
        . {error && errorMeaning(error)}
      </Note>
    )
  }
  if (status === 'dead') return <DeadLetter ids={{ webhookId, deliveryId }} error={error} />
  if (status === 'skipped') {
    return (
      <Note kind="info">
        <b>It was not sent: </b>the webhook or the event was deleted, or the transform gave null.
      </Note>
    )
  }
  return null
}

/** To redrive it takes it out of the dead letters. */
function DeadLetter({
  ids,
  error,
}: {
  ids: { webhookId: string; deliveryId: string }
  error: string | null
}) {
  const { may } = useSession()
  const { webhookId } = ids
  const { data } = useCall('deadLetters.list', { ...ids, limit: 1 })
  const { busy, problem, run } = useChange('deadLetters.redrive', ({ redriven }) =>
    say(`${plural(redriven, 'delivery', 'deliveries')} queued again`),
  )
  const letter = data?.items[0]
  if (data && !letter) {
    return <Note kind="info">It was queued again, or its dead letter was deleted.</Note>
  }
  return (
    <>
      {problem && <ProblemNote problem={problem} />}
      <Note
        kind="bad"
        action={
          letter &&
          may('deliveries:write') && (
            <Button kind="primary" busy={busy} onClick={() => run({ webhookId, ids: [letter.id] })}>
              Redrive
            </Button>
          )
        }
      >
        <b>It is not tried again. </b>
        {error && errorMeaning(error)} Mend the receiver, then redrive it.{' '}
        <Link to={href('dead-letters', { webhookId })}>All dead letters of this webhook</Link>
      </Note>
    </>
  )
}

function AttemptPanel({ attempt }: { attempt: Attempt }) {
  const { operator } = useSession().session
  return (
    <Panel
      title={`Attempt ${attempt.attempt}`}
      actions={<Badge tone={statusTone(attempt.status)}>{statusWord(attempt.status)}</Badge>}
    >
      <Facts
        rows={[
          ['Tried', <ExactTime at={attempt.attemptedAt} fine />],
          ['Took', duration(attempt.durationMs)],
          ['Status code', attempt.statusCode ?? 'no answer'],
          ['Error', attempt.error && errorMeaning(attempt.error, operator)],
          ['Sent to', attempt.url && <bdi class="mono">{attempt.url}</bdi>],
          ['Kind', attempt.isTest && 'A test'],
          ['Next attempt', attempt.nextAttemptAt && <ExactTime at={attempt.nextAttemptAt} />],
          ['Webhook', <WebhookName id={attempt.webhookId} />],
          [
            'Event',
            attempt.eventId && (
              <Id
                id={attempt.eventId}
                what="event"
                to={eventHref({
                  name: attempt.event,
                  id: attempt.eventId,
                  tenant: attempt.eventTenant ?? null,
                })}
              />
            ),
          ],
        ]}
      />
      <Phases of={attempt} />
    </Panel>
  )
}

const AnswerPanel = ({ attempt }: { attempt: Attempt }) => (
  <Panel title="Answer">
    {attempt.responseBody ? (
      <MaybeJson text={attempt.responseBody} what="answer" />
    ) : (
      <p class="faint">{whyNoAnswer(attempt)}</p>
    )}
    {attempt.responseHeaders && (
      <>
        <h3 class="part">Headers</h3>
        <Code text={attempt.responseHeaders} what="headers of the answer" />
      </>
    )}
  </Panel>
)

const LACKS: Record<NonNullable<RequestOfAttempt['lacks']>, string> = {
  payload: 'The payload is no longer kept.',
  transform: 'A transform of the host made the body and signed it.',
  secret: 'This host cannot read the secrets of the webhook.',
}

const whyNoBody = ({ lacks, bodyHidden, bodyCut }: RequestOfAttempt): string =>
  bodyCut
    ? 'The body is too long to be made again here.'
    : bodyHidden
      ? 'Hidden, since the payload is masked.'
      : lacks === null
        ? ''
        : LACKS[lacks]

/** What was sent, made again; the payload of the event where that is not possible. */
function RequestPanel({ delivery, attempt: shown }: { delivery: Delivery; attempt: Attempt }) {
  const { webhookId, deliveryId, request } = delivery
  const { attempt } = shown
  // The answer has that of the newest one.
  const isAsked = attempt !== request?.attempt && attempt !== delivery.attempts[0]?.attempt
  const other = useCall('deliveries.get', isAsked ? { webhookId, deliveryId, attempt } : null)
  const { problem } = other
  const data = isAsked ? other.data?.request : request
  const isWhole = data && data.body !== null && !data.bodyCut
  const headers = Object.entries(data?.headers ?? {})
  return (
    <Panel
      title="Request"
      actions={
        isWhole && (
          <Copy text={curlOf(data)} what="command">
            Copy as curl
          </Copy>
        )
      }
    >
      {problem && <ProblemNote problem={problem} />}
      {isWhole && data.body !== null ? (
        <MaybeJson text={data.body} what="body" />
      ) : (
        <>
          {delivery.payload !== null && (
            <MaybeJson text={JSON.stringify(delivery.payload)} what="payload" />
          )}
          <p class="hint">
            {data && `${whyNoBody(data)} `}
            {delivery.payload !== null && 'This is the payload of the event.'}
          </p>
        </>
      )}
      {headers.length > 0 && (
        <>
          <h3 class="part">Headers</h3>
          <Code
            text={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
            what="headers"
          />
          {isWhole && <Signed by={data} />}
          <p class="hint">
            Nothing of a request is kept: it is made again, with the settings and the secret that
            the webhook has now.
            {data?.changedAt && (
              <>
                {' '}
                They were changed after this attempt, on <ExactTime at={data.changedAt} />.
              </>
            )}
          </p>
        </>
      )}
    </Panel>
  )
}

/** How its signature comes about, with the values that it has. */
function Signed({ by: { headers, body } }: { by: RequestOfAttempt }) {
  const [name, signature] =
    Object.entries(headers).find(([, value]) => /^sha256=[0-9a-f]{64}$/.test(value)) ?? []
  if (!name || !signature || body === null) return null
  const timestamp = headers[name.replace(/signature$/i, 'Timestamp')] ?? ''
  return (
    <details>
      <summary>How it is signed</summary>
      <p class="small">
        The key is the whole text of the secret. What is signed is <code>{`${timestamp}.`}</code>{' '}
        and the body as it is sent, {bytes(new Blob([body]).size)}, without a change of a space. Its
        HMAC-SHA256 in hex, after <code>sha256=</code>, is the value of <code>{name}</code>:
      </p>
      <Code
        text={`body='${inQuotes(shortened(body))}'\nprintf '%s' '${timestamp}.'"$body" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET"\n# ${signature.slice('sha256='.length)}`}
        what="command that signs"
      />
    </details>
  )
}

const MOST_OF_BODY = 100_000
const shortened = (body: string): string =>
  body.length > MOST_OF_BODY ? `${body.slice(0, 200)}…` : body
const inQuotes = (text: string): string => text.replaceAll("'", "'\\''")

/** What is shown of a header whose value is secret. */
const MASK = '***'
const PLACEHOLDER = '<your value>'

function curlOf({ url, headers, body }: RequestOfAttempt): string {
  const command = [
    `curl -X POST '${inQuotes(url)}'`,
    ...Object.entries(headers)
      // curl has them from the address and the body.
      .filter(([name]) => !/^(host|content-length|connection)$/i.test(name))
      .map(([name, value]) => [name, value === MASK ? PLACEHOLDER : value])
      .map(([name, value]) => `  -H '${inQuotes(`${name}: ${value}`)}'`),
    `  --data-binary '${inQuotes(body ?? '')}'`,
  ].join(' \\\n')
  return Object.values(headers).includes(MASK)
    ? `# Replace each ${PLACEHOLDER}: the values of these headers are secret, and not shown.\n${command}`
    : command
}

const PHASES = ['Name', 'Connection', 'TLS', 'First byte', 'Rest'] as const
const TONES = ['idle', 'accent', 'warn', 'ok', 'idle'] as const

/** Where the time went. */
function Phases({ of: { phases, address, durationMs } }: { of: Attempt }) {
  if (!phases) return null
  const parts = PHASES.flatMap((name, index) => {
    const ms = phases[index]
    return ms === null || ms === undefined ? [] : [{ name, ms, tone: TONES[index] }]
  })
  const total = Math.max(
    1,
    parts.reduce((sum, { ms }) => sum + ms, 0),
  )
  const said = parts.map(({ name, ms }) => `${name} ${duration(ms)}`).join(', ')
  let x = 0
  return (
    <figure class="phases">
      <svg viewBox={`0 0 ${total} 1`} preserveAspectRatio="none" role="img" aria-label={said}>
        {parts.map(({ name, ms, tone }) => {
          const from = x
          x += ms
          return <rect key={name} class={`bar ${tone}`} x={from} y={0} width={ms} height={1} />
        })}
      </svg>
      <figcaption class="legend">
        {parts.map(({ name, ms, tone }) => (
          <span key={name} class="legend-item">
            <i class={`swatch ${tone}`} />
            {name} <b>{duration(ms)}</b>
          </span>
        ))}
        <span class="legend-time">
          {durationMs !== null && `${duration(durationMs)} in all`}
          {address && (
            <>
              , to <bdi class="mono">{address}</bdi>
            </>
          )}
        </span>
      </figcaption>
    </figure>
  )
}

function whyNoAnswer({ responseBodyHidden, statusCode }: Attempt): string {
  if (responseBodyHidden) return 'Hidden, since the payload is masked and the answer may repeat it.'
  return statusCode === null ? 'The receiver did not answer.' : 'The answer had no body.'
}

/** All attempts on one line, oldest first, and the next one. */
const Chain = ({ delivery, shown }: { delivery: Delivery; shown: Attempt }) => {
  const inOrder = delivery.attempts.toReversed()
  const next = delivery.attempts[0]?.nextAttemptAt
  const nav = useCurrentInSight(shown.id)
  return (
    <nav class="chain" aria-label="Attempts" ref={nav}>
      <ol>
        {inOrder.map((one, index) => (
          <li key={one.id}>
            {index > 0 && <span class="faint small">{`+${sinceOf(inOrder[index - 1], one)}`}</span>}
            <Link to={attemptHref(one)} current={one.id === shown.id}>
              <span class="faint">{`#${one.attempt}`}</span>{' '}
              <Badge tone={statusTone(one.status)}>{statusWord(one.status)}</Badge>{' '}
              <span class="mono">{one.statusCode ?? one.error ?? ''}</span>
            </Link>
          </li>
        ))}
        {next && (
          <li>
            <span class="faint small">
              <NextAttempt at={next} />
            </span>
          </li>
        )}
      </ol>
    </nav>
  )
}

const sinceOf = (before: Attempt | undefined, { attemptedAt }: Attempt): string =>
  duration(Math.max(0, Date.parse(attemptedAt) - Date.parse(before?.attemptedAt ?? attemptedAt)))

function Redeliver({
  ids,
  isDead,
  elsewhere,
  onDone,
  onClose,
}: {
  ids: { webhookId: string; deliveryId: string }
  isDead: boolean
  elsewhere: boolean
  onDone: (deliveryId: string) => void
  onClose: () => void
}) {
  const [url, setUrl] = useState('')
  return (
    <FormDialog
      title="Send again"
      submit="Send"
      call="deliveries.redeliver"
      input={() => ({ ...ids, ...(url && { url }) })}
      done={() => 'Queued under a new delivery id'}
      onDone={({ deliveryId }) => onDone(deliveryId)}
      onClose={onClose}
    >
      <p>
        The same event goes to the webhook once more, under a new delivery id.
        {isDead && ' This dead letter stays: redrive it to have it tried again itself.'}
      </p>
      {elsewhere && (
        <TextField
          label="To another address (optional)"
          type="url"
          value={url}
          onValue={setUrl}
          placeholder="https://"
          hint="For a try beside the webhook: one address, this once."
        />
      )}
    </FormDialog>
  )
}
