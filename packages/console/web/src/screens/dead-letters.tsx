import { useState } from 'preact/hooks'
import type { Attempt } from '../server/contract.ts'
import { call } from '../server/call.ts'
import { useSession } from '../shell/session.ts'
import { plural } from '../text/format.ts'
import { deliveriesTable } from '../ui/attempts-table.tsx'
import { Button } from '../ui/button.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { EVENT, SPAN, TENANT, WEBHOOK } from '../ui/filters.tsx'
import { ListScreen, useList } from '../ui/list-screen.tsx'
import { Empty } from '../ui/notes.tsx'

const FILTERS = [WEBHOOK, EVENT, { ...TENANT, more: true }, ...SPAN]

export function DeadLettersScreen() {
  const { may } = useSession()
  const [chosen, setChosen] = useState<readonly Attempt[]>([])
  const [asking, setAsking] = useState<'chosen' | 'all' | null>(null)
  const list = useList('deadLetters.list', FILTERS)
  const { rows = [] } = list.pages
  const webhookId = list.values['webhookId'] ?? ''
  // What a filter has taken out of sight is not redriven.
  const visible = chosen.filter(({ id }) => rows.some((row) => row.id === id))
  const writable = may('deliveries:write')
  return (
    <ListScreen
      title="Dead letters"
      about="Deliveries whose attempts are used up. Mend the receiver, then queue them again with all their attempts."
      actions={
        writable && (
          <>
            {visible.length < rows.length && rows.length > 1 && (
              <Button onClick={() => setChosen(rows)}>{`Choose all ${rows.length} shown`}</Button>
            )}
            {visible.length > 0 && (
              <Button kind="primary" onClick={() => setAsking('chosen')}>
                {`Redrive ${visible.length} chosen`}
              </Button>
            )}
            {webhookId && rows.length > 0 && (
              <Button onClick={() => setAsking('all')}>Redrive all of this webhook</Button>
            )}
          </>
        )
      }
      list={list}
      {...deliveriesTable(['status'], writable && chooser(rows, visible, setChosen))}
      unmatched="Nothing matches these filters"
      advice="Clear some of them to see more."
      empty={
        <Empty title="No dead letters">Every delivery arrived, or is still being tried.</Empty>
      }
    >
      {asking && (
        <RedriveDialog
          of={asking === 'all' ? webhookId : visible}
          onDone={() => setChosen([])}
          onClose={() => setAsking(null)}
        />
      )}
    </ListScreen>
  )
}

const chooser = (
  rows: readonly Attempt[],
  chosen: readonly Attempt[],
  onChosen: (chosen: readonly Attempt[]) => void,
) => ({
  name: 'Chosen',
  bare: true,
  cell: (row: Attempt) => (
    <input
      type="checkbox"
      aria-label={`Choose ${row.event}, delivery ${row.deliveryId}`}
      checked={chosen.some(({ id }) => id === row.id)}
      onClick={({ currentTarget, shiftKey }) => {
        const others = chosen.filter(({ id }) => id !== row.id)
        if (!currentTarget.checked) return onChosen(others)
        // With Shift, from the one that was chosen last.
        const [last, to] = [chosen.at(-1)?.id, row.id].map((one) =>
          rows.findIndex(({ id }) => id === one),
        ) as [number, number]
        const from = shiftKey && last !== -1 ? last : to
        const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1)
        onChosen([...new Set([...others, ...range])])
      }}
    />
  ),
})

/** Of a webhook, or some. */
type Letters = string | readonly Attempt[]

function RedriveDialog({
  of,
  onDone,
  onClose,
}: {
  of: Letters
  onDone: () => void
  onClose: () => void
}) {
  const isAll = typeof of === 'string'
  return (
    <FormDialog
      title={isAll ? 'Redrive all dead letters' : 'Redrive the chosen dead letters'}
      submit={isAll ? 'Redrive all' : `Redrive ${of.length}`}
      disabled={of.length === 0}
      call="deadLetters.redrive"
      input={() => of}
      does={redrive}
      done={(redriven) => `${plural(redriven, 'delivery', 'deliveries')} queued again`}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        {isAll
          ? 'All dead letters of this webhook are queued again, each with all its attempts. Whatever the receiver still refuses comes back here.'
          : `${plural(of.length, 'delivery is', 'deliveries are')} queued again, each with all its attempts.`}
      </p>
    </FormDialog>
  )
}

/** Of some, one call for each webhook that they are of. */
async function redrive(of: Letters): Promise<number> {
  if (typeof of === 'string') return (await call('deadLetters.redrive', { webhookId: of })).redriven
  let done = 0
  for (const [webhookId, letters] of Map.groupBy(of, (letter) => letter.webhookId)) {
    const ids = letters.map(({ id }) => id)
    done += (await call('deadLetters.redrive', { webhookId, ids })).redriven
  }
  return done
}
