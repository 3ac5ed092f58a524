import { useState } from 'preact/hooks'
import type { Attempt, DeliveryQuery } from '../server/contract.ts'
import { call } from '../server/call.ts'
import { useSession } from '../shell/session.ts'
import { useFilters } from '../state/router.ts'
import { useChange } from '../state/use-change.ts'
import { usePages } from '../state/use-pages.ts'
import { plural } from '../text/format.ts'
import { AttemptsTable } from '../ui/attempts-table.tsx'
import { Button } from '../ui/button.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { FilterBar, TextFilter, SpanFilter } from '../ui/filter-bar.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Empty } from '../ui/notes.tsx'
import { TenantFilter } from '../ui/tenant.tsx'
import { say } from '../ui/toasts.tsx'
import { WebhookFilter } from '../ui/webhook-filter.tsx'
import { useCatalogue } from './use-catalogue.ts'

const FILTERS = ['webhookId', 'event', 'tenant', 'since', 'until'] as const

export function DeadLettersScreen() {
  const { may } = useSession()
  const { values, set, clear, given, any } = useFilters(FILTERS)
  const { names } = useCatalogue()
  const [chosen, setChosen] = useState<readonly Attempt[]>([])
  const [asking, setAsking] = useState<'chosen' | 'all' | null>(null)
  const redriving = useChange()
  const pages = usePages(
    JSON.stringify(given),
    (after, signal) =>
      call('deadLetters.list', { ...(given as DeliveryQuery), ...(after && { after }) }, signal),
    ['deliveries', 'webhooks'],
  )
  // What a filter has taken out of sight is not redriven.
  const visible = chosen.filter(({ id }) => pages.rows?.some((row) => row.id === id))
  const redrive = async () => {
    const done = await redriving.run(() => redriveSome(visible))
    if (done === undefined) return
    say(`${plural(done, 'delivery', 'deliveries')} queued again`)
    setAsking(null)
    setChosen([])
    pages.reload()
  }
  const writable = may('deliveries:write')
  return (
    <Screen
      title="Dead letters"
      about="Deliveries whose attempts are used up. Mend the receiver, then queue them again with all their attempts."
      actions={
        writable && (
          <>
            {visible.length > 0 && (
              <Button kind="primary" onClick={() => setAsking('chosen')}>
                {`Redrive ${visible.length} chosen`}
              </Button>
            )}
            {values.webhookId && (pages.rows?.length ?? 0) > 0 && (
              <Button onClick={() => setAsking('all')}>Redrive all of this webhook</Button>
            )}
          </>
        )
      }
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
        <WebhookFilter value={values.webhookId} onValue={(webhookId) => set({ webhookId })} />
        <TextFilter
          label="Event"
          value={values.event}
          onValue={(event) => set({ event })}
          list={names}
          placeholder="Any"
        />
      </FilterBar>
      <Panel flush>
        <AttemptsTable
          pages={pages}
          without={['next', 'status']}
          {...(writable && { first: chooser(visible, setChosen) })}
          empty={
            any ? (
              <Empty title="Nothing matches these filters">Clear some of them to see more.</Empty>
            ) : (
              <Empty title="No dead letters">
                Every delivery arrived, or is still being tried.
              </Empty>
            )
          }
        />
      </Panel>
      {asking === 'chosen' && (
        <FormDialog
          title="Redrive the chosen dead letters"
          submit={`Redrive ${visible.length}`}
          busy={redriving.busy}
          problem={redriving.problem}
          disabled={visible.length === 0}
          onSubmit={() => void redrive()}
          onClose={() => setAsking(null)}
        >
          <p>
            {`${plural(visible.length, 'delivery is', 'deliveries are')} queued again, each with all its attempts.`}
          </p>
        </FormDialog>
      )}
      {asking === 'all' && (
        <RedriveAll
          webhookId={values.webhookId}
          onClose={() => setAsking(null)}
          onDone={pages.reload}
        />
      )}
    </Screen>
  )
}

const chooser = (chosen: readonly Attempt[], onChosen: (chosen: readonly Attempt[]) => void) => ({
  name: 'Chosen',
  bare: true,
  cell: (row: Attempt) => (
    <input
      type="checkbox"
      aria-label={`Choose ${row.event}, delivery ${row.deliveryId}`}
      checked={chosen.some(({ id }) => id === row.id)}
      onChange={({ currentTarget }) =>
        onChosen(
          currentTarget.checked ? [...chosen, row] : chosen.filter(({ id }) => id !== row.id),
        )
      }
    />
  ),
})

/** One call for each webhook that they are of. */
async function redriveSome(letters: readonly Attempt[]): Promise<number> {
  let done = 0
  for (const [webhookId, of] of Map.groupBy(letters, (letter) => letter.webhookId)) {
    const ids = of.map(({ id }) => id)
    done += (await call('deadLetters.redrive', { webhookId, ids })).redriven
  }
  return done
}

export function RedriveAll({
  webhookId,
  onClose,
  onDone,
}: {
  webhookId: string
  onClose: () => void
  onDone: () => void
}) {
  const { busy, problem, run } = useChange()
  const redrive = async () => {
    const result = await run(() => call('deadLetters.redrive', { webhookId }))
    if (!result) return
    say(`${plural(result.redriven, 'delivery', 'deliveries')} queued again`)
    onClose()
    onDone()
  }
  return (
    <FormDialog
      title="Redrive all dead letters"
      submit="Redrive all"
      busy={busy}
      problem={problem}
      onSubmit={() => void redrive()}
      onClose={onClose}
    >
      <p>
        All dead letters of this webhook are queued again, each with all its attempts. Whatever the
        receiver still refuses comes back here.
      </p>
    </FormDialog>
  )
}
