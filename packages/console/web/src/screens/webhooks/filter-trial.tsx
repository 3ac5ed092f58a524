/** Which recent events a filter matches, loaded while the filter is written. */
import { useEffect, useState } from 'preact/hooks'
import type { CallInput } from '../../server/contract.ts'
import { useCall } from '../../state/queries.ts'
import { parsedFilter, type Draft } from '../../text/webhook-draft.ts'
import { Badge, Time } from '../../ui/facts.tsx'
import { ProblemNote } from '../../ui/notes.tsx'

const PAUSE_MS = 400

export function FilterTrial({ draft }: { draft: Draft }) {
  const read = parsedFilter(draft.filter)
  const filter = 'filter' in read ? read.filter : null
  const wanted =
    filter && draft.events.length > 0
      ? JSON.stringify({
          filter,
          events: draft.events,
          ...(draft.tenant && { tenant: draft.tenant }),
        })
      : null
  const [debounced, setDebounced] = useState<string | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(wanted), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const { data, problem } = useCall(
    'webhooks.tryFilter',
    debounced === null ? null : (JSON.parse(debounced) as CallInput<'webhooks.tryFilter'>),
  )
  if ('mistake' in read) return <p class="problem-text">{read.mistake}</p>
  if (filter === null) return null
  if (draft.events.length === 0)
    return <p class="hint">Choose events to try the filter on recent ones.</p>
  if (problem) return <ProblemNote problem={problem} />
  if (!data) return <p class="hint">Trying it on recent events…</p>
  const matching = data.events.filter(({ matches }) => matches).length
  return (
    <div role="status">
      <h3 class="part">
        {data.events.length === 0
          ? 'None of these events was published yet'
          : `${matching} of the ${data.events.length} newest events would be sent`}
      </h3>
      {data.events.length > 0 && (
        <ul class="matches" tabindex={0} aria-label="The newest events">
          {data.events.map(({ id, name, publishedAt, matches }) => (
            <li key={`${name}/${id}`}>
              <span>
                <bdi class="mono">{name}</bdi>{' '}
                <span class="faint small">
                  <Time at={publishedAt} />
                </span>
              </span>
              <Badge tone={matches ? 'ok' : 'idle'}>{matches ? 'Sent' : 'Left out'}</Badge>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
