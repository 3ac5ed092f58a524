import { useState } from 'preact/hooks'
import type { CallResult, InboundRequest } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { useChange } from '../state/queries.ts'
import { useSources } from '../state/names.ts'
import { href, useFilters } from '../state/router.ts'
import { ago, bytes, duration, plural } from '../text/format.ts'
import { outcomeOf, OUTCOMES } from '../text/states.ts'
import { Button, Link } from '../ui/button.tsx'
import { Json, MaybeJson } from '../ui/code.tsx'
import { Dialog, FormDialog } from '../ui/dialog.tsx'
import { Badge, ExactTime, Facts, Id, Outside, Time } from '../ui/facts.tsx'
import { TextArea, useJsonDraft } from '../ui/field.tsx'
import { SPAN, TENANT } from '../ui/filters.tsx'
import { ListScreen, useList } from '../ui/list-screen.tsx'
import { Panel } from '../ui/layout.tsx'
import { Empty, Note, ProblemNote } from '../ui/notes.tsx'
import type { Column } from '../ui/table.tsx'
import { TenantName } from '../ui/tenant.tsx'
import { say } from '../ui/toasts.tsx'
import { eventHref } from './events.tsx'

const FILTERS = [
  { name: 'source', label: 'Source', kind: 'source' } as const,
  { name: 'outcome', label: 'Outcome', choices: OUTCOMES },
  { ...TENANT, more: true },
  ...SPAN,
]

function Outcome({ of: { outcome } }: { of: Pick<InboundRequest, 'outcome'> }) {
  const { tone, word } = outcomeOf(outcome)
  return <Badge tone={tone}>{word}</Badge>
}
export const OUTCOME: Column<InboundRequest> = {
  name: 'Outcome',
  kind: 'state',
  cell: (row) => <Outcome of={row} />,
}
export const CAME: Column<InboundRequest> = {
  name: 'Came',
  kind: 'end',
  cell: ({ at }) => <Time at={at} />,
}

export function InboundScreen() {
  const { session } = useSession()
  const { values, set } = useFilters(['request'])
  const list = useList('inbound.list', FILTERS)
  const shown = list.pages.rows?.find(({ id }) => id === values['request'])
  return (
    <ListScreen
      title="Inbound"
      about="Requests that providers sent here: what was accepted, what was refused and why."
      list={list}
      label="Inbound requests"
      columns={[
        {
          name: 'Source',
          kind: 'main',
          bare: true,
          cell: (row) => (
            <button
              type="button"
              class="main-line as-link"
              onClick={() => set({ request: row.id })}
            >
              <bdi>{row.source}</bdi>
            </button>
          ),
        },
        OUTCOME,
        { name: 'Event', cell: ({ event }) => event && <bdi class="mono">{event}</bdi> },
        {
          name: 'Reason',
          cell: ({ reason }) => reason && <Outside text={reason} most={160} />,
        },
        { name: 'Size', kind: 'end', cell: (row) => bytes(row.bytes) },
        { name: 'Took', kind: 'end', cell: ({ durationMs }) => duration(durationMs) },
        CAME,
      ]}
      unmatched="No request matches"
      empty={
        <Empty title="Nothing has come in yet">
          {session.operator ? (
            <>
              Sources are given to <code>svcWebhooks</code> as <code>inbound</code>; of many refused
              requests a sample is kept.
            </>
          ) : (
            'Requests of your providers appear here, with what became of each.'
          )}
        </Empty>
      }
    >
      <Sources />
      {shown && <InboundDialog request={shown} onClose={() => set({ request: '' })} />}
    </ListScreen>
  )
}

/** A line a source: when it was heard last, and what was refused. */
function Sources() {
  const { may } = useSession()
  const { sources } = useSources()
  const [tested, setTested] = useState('')
  if (sources.length === 0) return null
  return (
    <Panel title="Sources">
      <ul class="used-list">
        {sources.map(({ source, acceptedAt, isQuiet, refused, notTestable }) => (
          <li key={source}>
            <Link to={href('inbound', { source })}>
              <bdi>{source}</bdi>
            </Link>
            <span class="faint">
              {acceptedAt ? `accepted ${ago(acceptedAt)}` : 'nothing accepted lately'}
            </span>
            {refused.at && (
              <Link to={href('inbound', { source, outcome: 'refused' })}>
                {`${plural(refused.count, 'refused request', 'refused requests')} in a day`}
              </Link>
            )}
            {isQuiet && <Badge tone="warn">Quiet</Badge>}
            {notTestable !== undefined && may('inbound:write') && (
              <Button kind="quiet" onClick={() => setTested(source)}>
                {`Test ${source}`}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {tested && (
        <SampleDialog
          source={tested}
          problem={sources.find(({ source }) => source === tested)?.notTestable ?? null}
          onClose={() => setTested('')}
        />
      )}
    </Panel>
  )
}

/** Sends a request as the provider would, or says why it cannot. */
function SampleDialog({
  source,
  problem,
  onClose,
}: {
  source: string
  problem: string | null
  onClose: () => void
}) {
  const draft = useJsonDraft()
  const [result, setResult] = useState<CallResult<'inbound.test'>>()
  return (
    <FormDialog
      title={`Send a sample to ${source}`}
      question={
        draft.field.value.trim() && !result
          ? 'The body that you have typed was not sent. Leave it?'
          : undefined
      }
      submit={result ? 'Send another' : 'Send'}
      disabled={problem !== null}
      call="inbound.test"
      input={() => draft.read((body) => ({ source, ...(body !== undefined && { body }) }))}
      onDone={setResult}
      onClose={onClose}
    >
      {problem === null ? (
        <p>
          A request comes to this host as from the provider, signed with the secret that this host
          has for it, with the header <code>x-svc-test</code>. <b>Its event is one as any other</b>:
          your handlers and the webhooks that want it get it. Its id begins with <code>test-</code>.
        </p>
      ) : (
        <Note kind="info">No sample can be sent: {problem}.</Note>
      )}
      {problem === null && (
        <TextArea label="Body, as JSON" mono hint="Empty: a small example." {...draft.field} />
      )}
      {result && (
        <section class="result" aria-label="Result" aria-live="polite">
          <p>
            <Outcome of={result} /> <span class="mono">{result.statusCode}</span>{' '}
            <Link to={href('inbound', { source })} onGo={onClose}>
              Its requests
            </Link>
          </p>
          {result.answer && <MaybeJson text={result.answer} what="answer" />}
        </section>
      )}
    </FormDialog>
  )
}

/** Its list up to it: it is among the rows however many have come since. */
const addressOf = ({ id, at, source }: InboundRequest): string =>
  href('inbound', { source, until: new Date(Date.parse(at) + 1).toISOString(), request: id })

/** What to do about a reason that everybody meets. */
const adviceOf = ({ reason, source }: InboundRequest): string =>
  reason === 'no signature matches'
    ? `The secret that this host has for ${source} is not the one that it signs with: it was changed there or here. Or something on the way changes bodies.`
    : ''

function InboundDialog({ request, onClose }: { request: InboundRequest; onClose: () => void }) {
  const { may, session } = useSession()
  const { busy, problem, run } = useChange('inbound.replay', () => {
    say('Published again, as a new event')
    onClose()
  })
  return (
    <Dialog title={`Request from ${request.source}`} onClose={onClose} wide>
      <div class="form">
        {request.reason && (
          <Note kind={request.outcome === 'duplicate' ? 'info' : 'bad'}>
            <Outside text={request.reason} /> {adviceOf(request)}
          </Note>
        )}
        <Facts
          rows={[
            ['Outcome', <Outcome of={request} />],
            ['Came', <ExactTime at={request.at} fine />],
            ['Took', duration(request.durationMs)],
            ['Size', bytes(request.bytes)],
            ['From', request.ip && <bdi class="mono">{request.ip}</bdi>],
            ['Tenant', <TenantName of={request.tenant} />],
            [
              'Event',
              request.event &&
                (request.eventId ? (
                  <Link
                    to={eventHref({
                      name: request.event,
                      id: request.eventId,
                      tenant: request.tenant,
                    })}
                    onGo={onClose}
                  >
                    <bdi class="mono">{request.event}</bdi>
                  </Link>
                ) : (
                  <bdi class="mono">{request.event}</bdi>
                )),
            ],
            ['Id', <Id id={request.id} what="request id" to={addressOf(request)} />],
          ]}
        />
        {request.headers && (
          <div>
            <h3 class="part">Headers</h3>
            <Json value={request.headers} what="headers" />
          </div>
        )}
        {request.body === undefined ? (
          <p class="hint">
            Its body was not kept.
            {request.outcome === 'refused' && ' That of a refused request never is.'}
            {session.operator && request.outcome !== 'refused' && (
              <>
                {' '}
                The option <code>inboundLog: {'{ rawBodies: true }'}</code> keeps bodies of requests
                that were verified, so that they can be replayed.
              </>
            )}
          </p>
        ) : (
          <div>
            <h3 class="part">Body</h3>
            <MaybeJson text={request.body} what="body" />
          </div>
        )}
        {problem && <ProblemNote problem={problem} />}
        {may('inbound:write') && request.body !== undefined && request.outcome !== 'refused' && (
          <div class="form-foot">
            <span class="hint">
              Publishes the same payload as a new event; nothing is verified again.
            </span>
            <Button kind="primary" busy={busy} onClick={() => run({ id: request.id })}>
              Replay
            </Button>
          </div>
        )}
        {request.outcome === 'refused' && request.event === null && (
          <p class="hint">
            A refused request is not replayed. Other requests of this source:{' '}
            <Link to={href('inbound', { source: request.source })} onGo={onClose}>
              show them
            </Link>
            .
          </p>
        )}
      </div>
    </Dialog>
  )
}
