import { useState } from 'preact/hooks'
import type { CallInput, InboundRequest } from '../server/contract.ts'
import { call } from '../server/call.ts'
import { useSession } from '../shell/session.ts'
import { href, useFilters } from '../state/router.ts'
import { useChange } from '../state/use-change.ts'
import { usePages } from '../state/use-pages.ts'
import { bytes, duration } from '../text/format.ts'
import { outcomeOf } from '../text/states.ts'
import { Button, Link } from '../ui/button.tsx'
import { Json, MaybeJson } from '../ui/code.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Badge, ExactTime, Facts, Id, Outside, Time } from '../ui/facts.tsx'
import { ChoiceFilter, FilterBar, TextFilter, SpanFilter } from '../ui/filter-bar.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Empty, Note, ProblemNote } from '../ui/notes.tsx'
import { PagedTable } from '../ui/table.tsx'
import { TenantFilter, TenantName } from '../ui/tenant.tsx'
import { say } from '../ui/toasts.tsx'
import { eventHref } from './events.tsx'

const FILTERS = ['source', 'outcome', 'tenant', 'since', 'until'] as const
const OUTCOMES = ['accepted', 'duplicate', 'refused', 'failed'].map((value) => ({
  value,
  label: outcomeOf(value as InboundRequest['outcome']).word,
}))

export function InboundScreen() {
  const { values, set, clear, given, any } = useFilters(FILTERS)
  const [shown, setShown] = useState<InboundRequest>()
  const pages = usePages(
    JSON.stringify(given),
    (after, signal) =>
      call(
        'inbound.list',
        { ...(given as CallInput<'inbound.list'>), ...(after && { after }) },
        signal,
      ),
    ['inbound'],
  )
  return (
    <Screen
      title="Inbound"
      about="Requests that providers sent here: what was accepted, what was refused and why."
    >
      <FilterBar
        any={any}
        onClear={clear}
        moreUsed={Boolean(values.tenant || values.since || values.until)}
        more={
          <>
            <TenantFilter value={values.tenant} onValue={(tenant) => set({ tenant })} />
            <SpanFilter since={values.since} until={values.until} onSpan={set} />
          </>
        }
      >
        <TextFilter
          label="Source"
          value={values.source}
          onValue={(source) => set({ source })}
          placeholder="Any"
        />
        <ChoiceFilter
          label="Outcome"
          value={values.outcome}
          choices={OUTCOMES}
          onValue={(outcome) => set({ outcome })}
        />
      </FilterBar>
      <Panel flush>
        <PagedTable
          label="Inbound requests"
          pages={pages}
          id={({ id }) => id}
          columns={[
            {
              name: 'Source',
              kind: 'main',
              bare: true,
              cell: (row) => (
                <button type="button" class="main-line as-link" onClick={() => setShown(row)}>
                  <bdi>{row.source}</bdi>
                </button>
              ),
            },
            {
              name: 'Outcome',
              kind: 'state',
              cell: ({ outcome }) => (
                <Badge tone={outcomeOf(outcome).tone}>{outcomeOf(outcome).word}</Badge>
              ),
            },
            {
              name: 'Event',
              cell: ({ event }) => event && <bdi class="mono">{event}</bdi>,
            },
            { name: 'Reason', cell: ({ reason }) => reason && <Outside text={reason} most={80} /> },
            { name: 'Size', kind: 'end', cell: (row) => bytes(row.bytes) },
            { name: 'Took', kind: 'end', cell: ({ durationMs }) => duration(durationMs) },
            { name: 'Came', kind: 'end', cell: ({ at }) => <Time at={at} /> },
          ]}
          empty={
            any ? (
              <Empty title="No request matches">Clear some of the filters to see more.</Empty>
            ) : (
              <Empty title="Nothing has come in yet">
                Sources are given to <code>svcWebhooks</code> as <code>inbound</code>; refused
                requests are sampled.
              </Empty>
            )
          }
        />
      </Panel>
      {shown && (
        <InboundDialog
          request={shown}
          onClose={() => setShown(undefined)}
          onReplayed={pages.reload}
        />
      )}
    </Screen>
  )
}

function InboundDialog({
  request,
  onClose,
  onReplayed,
}: {
  request: InboundRequest
  onClose: () => void
  onReplayed: () => void
}) {
  const { may } = useSession()
  const { busy, problem, run } = useChange()
  const { tone, word } = outcomeOf(request.outcome)
  const replay = async () => {
    const done = await run(() => call('inbound.replay', { id: request.id }))
    if (!done) return
    say('Published again, as a new event')
    onReplayed()
    onClose()
  }
  return (
    <Dialog title={`Request from ${request.source}`} onClose={onClose} wide>
      <div class="form">
        {request.reason && (
          <Note kind={request.outcome === 'duplicate' ? 'info' : 'bad'}>
            <Outside text={request.reason} />
          </Note>
        )}
        <Facts
          rows={[
            ['Outcome', <Badge tone={tone}>{word}</Badge>],
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
            ['Id', <Id id={request.id} what="request id" />],
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
            Its body was not kept. The option <code>inboundLog: {'{ rawBodies: true }'}</code> keeps
            bodies of requests that were verified, so that they can be replayed.
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
            <Button kind="primary" busy={busy} onClick={() => void replay()}>
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
