/** One delivery, with one of its attempts in full: what was sent, what came back, what follows. */
import { useState } from 'preact/hooks'
import type { Attempt, Delivery } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { useCall } from '../state/queries.ts'
import { cameFrom, go, href, usePlace } from '../state/router.ts'
import { duration } from '../text/format.ts'
import { errorMeaning, statusTone, statusWord } from '../text/states.ts'
import { Button, Link } from '../ui/button.tsx'
import { Json, MaybeJson } from '../ui/code.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { Badge, ExactTime, Facts, Id, Time } from '../ui/facts.tsx'
import { TextField } from '../ui/field.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Answered, Note } from '../ui/notes.tsx'
import { attemptHref, WebhookName } from '../ui/attempts-table.tsx'
import { eventHref } from './events.tsx'
import { RecoverDialog } from './webhooks/recover-dialog.tsx'

export function DeliveryScreen(ids: { webhookId: string; deliveryId: string }) {
  const { may, session } = useSession()
  const { query } = usePlace()
  const [asking, setAsking] = useState<'again' | 'recover' | null>(null)
  const delivery = useCall('deliveries.get', ids)
  const { data } = delivery
  const began = data?.attempts.at(-1)?.attemptedAt
  const attempt = data?.attempts.find(({ id }) => id === query.get('attempt')) ?? data?.attempts[0]
  return (
    <Screen
      title={data ? <bdi>{data.event}</bdi> : 'Delivery'}
      back={{ to: cameFrom('deliveries'), label: 'Deliveries' }}
      about={<Id id={ids.deliveryId} what="delivery id" whole />}
      actions={
        may('deliveries:write') && (
          <>
            <Button onClick={() => setAsking('again')}>Send again</Button>
            {began && <Button onClick={() => setAsking('recover')}>Recover from here</Button>}
          </>
        )
      }
    >
      <Answered of={delivery}>
        {(data) =>
          attempt && (
            <>
              <NextStep attempt={data.attempts[0] ?? attempt} />
              <div class="columns wide-left">
                <div>
                  <AttemptPanel attempt={attempt} />
                  <Panel title="Request body">
                    <Json value={data.payload} what="payload" />
                    <p class="hint">
                      The event’s payload. A transform of the webhook may have changed it.
                    </p>
                  </Panel>
                </div>
                <Attempts delivery={data} shown={attempt} />
              </div>
            </>
          )
        }
      </Answered>
      {asking === 'again' && (
        <Redeliver ids={ids} elsewhere={session.isAdmin} onClose={() => setAsking(null)} />
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

function NextStep({ attempt: { status, nextAttemptAt, error, webhookId } }: { attempt: Attempt }) {
  if (status === 'failed') {
    return (
      <Note kind="warn">
        <b>It will be tried again </b>
        {isDue(nextAttemptAt) ? (
          'any moment'
        ) : (
          <Time at={nextAttemptAt} none="when the webhook is active" />
        )}
        . {error && errorMeaning(error)}
      </Note>
    )
  }
  if (status === 'dead') {
    return (
      <Note
        kind="bad"
        action={
          <Link class="button plain" to={href('dead-letters', { webhookId })}>
            Dead letters of this webhook
          </Link>
        }
      >
        <b>It is not tried again. </b>
        {error && errorMeaning(error)} Mend the receiver, then send it again.
      </Note>
    )
  }
  if (status === 'skipped') {
    return (
      <Note kind="info">
        <b>It was not sent: </b>the webhook or the event was deleted, or the transform gave null.
      </Note>
    )
  }
  return null
}

/**
 * An attempt that is due within seconds is shown as due: its time would be past before it is read.
 */
const SOON_MS = 5000
const isDue = (at: string | null): boolean =>
  at !== null && new Date(at).getTime() <= Date.now() + SOON_MS

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
      <h3 class="part">Answer</h3>
      {attempt.responseBody ? (
        <MaybeJson text={attempt.responseBody} what="answer" />
      ) : (
        <p class="faint">{whyNoAnswer(attempt)}</p>
      )}
    </Panel>
  )
}

function whyNoAnswer({ responseBodyHidden, statusCode }: Attempt): string {
  if (responseBodyHidden) return 'Hidden, since the payload is masked and the answer may repeat it.'
  return statusCode === null ? 'The receiver did not answer.' : 'The answer had no body.'
}

const Attempts = ({ delivery, shown }: { delivery: Delivery; shown: Attempt }) => (
  <Panel title="Attempts" flush>
    <ol class="attempts">
      {delivery.attempts.map((one) => (
        <li key={one.id}>
          <Link to={attemptHref(one)} current={one.id === shown.id}>
            <span class="faint">{`#${one.attempt}`}</span>
            <Badge tone={statusTone(one.status)}>{statusWord(one.status)}</Badge>
            <span class="mono">{one.statusCode ?? one.error ?? ''}</span>
            <span class="sub-line">
              <Time at={one.attemptedAt} /> · {duration(one.durationMs)}
            </span>
          </Link>
        </li>
      ))}
    </ol>
  </Panel>
)

function Redeliver({
  ids,
  elsewhere,
  onClose,
}: {
  ids: { webhookId: string; deliveryId: string }
  elsewhere: boolean
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
      onDone={({ deliveryId }) => go(href('deliveries', { deliveryId }))}
      onClose={onClose}
    >
      <p>The same event goes to the webhook once more, under a new delivery id.</p>
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
