/** Sends one event to one webhook as a test: its example, or a payload of one's own. The result is shown in place. */
import { useState } from 'preact/hooks'
import { call } from '../../server/call.ts'
import type { Webhook } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { useCatalogue } from '../../state/names.ts'
import { useCall } from '../../state/queries.ts'
import { duration } from '../../text/format.ts'
import { deliveryState, errorMeaning } from '../../text/states.ts'
import { attemptHref } from '../../ui/attempts-table.tsx'
import { Link } from '../../ui/button.tsx'
import { MaybeJson } from '../../ui/code.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Badge } from '../../ui/facts.tsx'
import { Select, TextArea } from '../../ui/field.tsx'
import { Loading } from '../../ui/notes.tsx'

const PLAIN = 'webhook.test'

const textOf = (payload: unknown): string =>
  payload === undefined || payload === null ? '' : JSON.stringify(payload, null, 2)

export function Composer({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { may } = useSession()
  const { data } = useCatalogue()
  const [event, setEvent] = useState(PLAIN)
  /** By the event: to look at another one loses nothing. */
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [kept, setKept] = useState(typed)
  const [mistake, setMistake] = useState<string>()
  const [sent, setSent] = useState<string>()
  const events = data?.items ?? []
  const example = textOf(events.find(({ name }) => name === event)?.example)
  const payload = typed[event] ?? example
  const isUnsent = Object.entries(typed).some(
    ([name, text]) => text.trim() !== '' && text !== kept[name],
  )
  const read = () => {
    const isOwn = payload.trim() !== '' && payload !== example
    try {
      const own = isOwn ? { payload: JSON.parse(payload) as unknown } : {}
      setMistake(undefined)
      return { id: webhook.id, ...(event !== PLAIN && { event }), ...own }
    } catch (error) {
      setMistake(`This is not JSON: ${(error as Error).message}`)
      return undefined
    }
  }
  return (
    <FormDialog
      title="Send a test"
      submit={sent ? 'Send another' : 'Send'}
      wide
      question={isUnsent ? 'The payload that you have typed was not sent. Leave it?' : undefined}
      call="webhooks.test"
      input={read}
      does={async (input) => {
        const result = await call('webhooks.test', input)
        setKept((before) => ({ ...before, ...(event in typed && { [event]: payload }) }))
        return result
      }}
      onDone={({ deliveryId }) => setSent(deliveryId)}
      onClose={onClose}
    >
      <p>
        One event goes to this webhook alone, signed as any other, with a header that marks it as a
        test. If it fails, it is tried again. It counts in neither the health nor the statistics of
        the webhook.
        {!webhook.active && ' The webhook is not active: the test waits until it is.'}
      </p>
      <Select
        label="Event"
        value={event}
        onValue={(name) => {
          setEvent(name)
          setMistake(undefined)
        }}
        choices={[
          { value: PLAIN, label: PLAIN },
          ...events
            .filter(({ name }) => name !== PLAIN)
            .map(({ name, example: one }) => ({
              value: name,
              label: one === null ? name : `${name} (its example)`,
            })),
        ]}
      />
      <TextArea
        label="Payload, as JSON"
        rows={8}
        mono
        value={payload}
        onValue={(text) => {
          setTyped({ ...typed, [event]: text })
          setMistake(undefined)
        }}
        problem={mistake ?? roundedIn(payload)}
        hint={
          event === PLAIN
            ? 'Empty: the id of the webhook, and the time.'
            : 'It is checked by the schema of the event.'
        }
      />
      {sent && may('deliveries:read') && <Result webhookId={webhook.id} deliveryId={sent} />}
    </FormDialog>
  )
}

/** Of the newer parts of JSON that the types of TypeScript lack; an older browser gives no context. */
const parse = JSON.parse as (
  json: string,
  reviver: (key: string, value: unknown, context?: { source?: string }) => unknown,
) => unknown

/** `129.50` and `1295e-1` are one number: its digits, without zeros at its ends. */
const digitsOf = (number: string): string =>
  number
    .replace(/e.*$/i, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '')

/** Numbers are doubles here and in the host: says where one would be sent as another. */
function roundedIn(json: string): string | undefined {
  let first: string | undefined
  try {
    parse(json, (_key, value, context) => {
      const source = context?.source
      if (typeof value === 'number' && source && digitsOf(source) !== digitsOf(String(value)))
        first ??= `${source} would be sent as ${JSON.stringify(value)}: put it in quotes, or write fewer digits.`
      return value
    })
  } catch {
    return undefined
  }
  return first
}

const READ_AFTER_MS = 700

/** Asked for so often; later, the stream says when there is something new. */
const MOST_READS = 60

/** What became of a delivery that was just queued. */
export function Result(ids: { webhookId: string; deliveryId: string }) {
  const { data } = useCall(
    'deliveries.list',
    { ...ids, limit: 1 },
    {
      refetchInterval: ({ state }) =>
        state.data?.items.length || state.dataUpdateCount > MOST_READS ? false : READ_AFTER_MS,
    },
  )
  const [attempt] = data?.items ?? []
  return (
    <section class="result" aria-label="Result" aria-live="polite">
      {attempt ? (
        <>
          <p>
            <Badge tone={deliveryState(attempt).tone}>{deliveryState(attempt).word}</Badge>{' '}
            <span class="mono">{attempt.statusCode ?? attempt.error}</span>{' '}
            <span class="faint">after {duration(attempt.durationMs)}.</span>{' '}
            <Link to={attemptHref(attempt)}>Request and answer in full</Link>
          </p>
          {attempt.error && <p class="hint">{errorMeaning(attempt.error)}</p>}
          {attempt.responseBody && <MaybeJson text={attempt.responseBody} what="answer" />}
        </>
      ) : (
        <Loading what="On its way" />
      )}
    </section>
  )
}
