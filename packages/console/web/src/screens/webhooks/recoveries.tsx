/** The last recoveries of a webhook, and how far each is: while one runs, a second after each answer. */
import type { Recovery } from '../../server/contract.ts'
import { useCall } from '../../state/queries.ts'
import { count, exact } from '../../text/format.ts'
import { Time } from '../../ui/facts.tsx'
import { Panel } from '../../ui/layout.tsx'

const MOST = 3
const READ_AFTER_MS = 1000

const WHAT: Record<Recovery['what'], string> = {
  missing: 'Events without a delivery',
  dead: 'Dead letters',
  failed: 'Deliveries that waited',
}

export function Recoveries({ webhookId }: { webhookId: string }) {
  const { data } = useCall(
    'webhooks.recoveries',
    { webhookId, limit: MOST },
    {
      refetchInterval: ({ state }) =>
        state.data?.items.some(({ finishedAt }) => finishedAt === null) ? READ_AFTER_MS : false,
    },
  )
  if (!data || data.items.length === 0) return null
  return (
    <Panel title="Recoveries">
      <ul class="recoveries">
        {data.items.map((recovery) => (
          <li key={recovery.id}>
            <span>
              {WHAT[recovery.what]}
              <span class="sub-line">{`${exact(recovery.since)} to ${exact(recovery.until)}`}</span>
            </span>
            <Progress of={recovery} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Progress({ of: { id, done, deliveries, finishedAt } }: { of: Recovery }) {
  if (finishedAt) {
    return (
      <span>
        {`${count(done)} sent again `}
        <span class="faint">
          <Time at={finishedAt} />
        </span>
      </span>
    )
  }
  return (
    <label for={id} class="progress">
      {deliveries === null
        ? `${count(done)} on their way`
        : `${count(done)} of ${count(deliveries)} on their way`}
      <progress id={id} value={done} {...(deliveries !== null && { max: deliveries })} />
    </label>
  )
}
