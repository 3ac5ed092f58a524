/** The numbers of the span: each leads to the list behind it. */
import type { ComponentChildren } from 'preact'
import type { Stats, StatsPoint } from '../../server/contract.ts'
import { isUnknownOperation } from '../../server/call.ts'
import { useSession } from '../../shell/session.ts'
import { useCall, type Answer } from '../../state/queries.ts'
import { href } from '../../state/router.ts'
import { duration, shortCount } from '../../text/format.ts'
import { Link } from '../../ui/button.tsx'
import { failedAgain, useSpan } from './delivery-charts.tsx'

export function Figures({ stats: { data, problem } }: { stats: Answer<Stats> }) {
  const { may } = useSession()
  const { span } = useSpan()
  const health = useCall('health.get', may('health:read') ? {} : null)
  const since = new Date(Date.now() - span.ms).toISOString().slice(0, 17) + '00Z'
  const points = data?.points ?? []
  const delivered = sum(points, ({ deliveries }) => deliveries.delivered)
  const dead = sum(points, ({ deliveries }) => deliveries.dead)
  const failed = sum(points, failedAgain)
  const latency = points.findLast(({ firstAttemptMs }) => firstAttemptMs.p50 !== null)
    ?.firstAttemptMs.p50
  const queues = health.data?.queues ?? []
  const waiting = queues.reduce((total, queue) => total + queue.waiting + queue.active, 0)
  if (isUnknownOperation(problem)) return null
  return (
    <div class="figures" aria-busy={!data && !problem}>
      <Figure to={href('deliveries', { status: 'delivered', since })} name="Delivered" known={data}>
        {shortCount(delivered)}
      </Figure>
      <Figure
        to={href('deliveries', { rows: 'attempts', status: 'failed', since })}
        name="Failed, tried again"
        known={data}
        tone={failed > 0 ? 'warn' : ''}
      >
        {shortCount(failed)}
      </Figure>
      <Figure
        to={href('dead-letters', { since })}
        name="Gone dead"
        known={data}
        tone={dead > 0 ? 'bad' : ''}
      >
        {shortCount(dead)}
      </Figure>
      <Figure to={href('deliveries', { since })} name="Arrived" known={data}>
        {delivered + dead === 0 ? '–' : `${percent(delivered, dead)} %`}
      </Figure>
      <Figure name="First attempt after" known={data}>
        {duration(latency)}
      </Figure>
      {may('health:read') && (
        <Figure to={href('health')} name="Waiting" known={health.data}>
          {shortCount(waiting)}
        </Figure>
      )}
    </div>
  )
}

const sum = (points: readonly StatsPoint[], of: (point: StatsPoint) => number): number =>
  points.reduce((total, point) => total + of(point), 0)

/** Rounded down: 99.99 % of which one is dead is not 100 %. */
const percent = (delivered: number, dead: number): number =>
  Math.floor((delivered / (delivered + dead)) * 1000) / 10

const Figure = ({
  to,
  name,
  known,
  tone = '',
  children,
}: {
  to?: string
  name: string
  known: unknown
  tone?: string
  children: ComponentChildren
}) => {
  const inner = (
    <>
      <span>{name}</span>
      <b class={tone}>{known ? children : '–'}</b>
    </>
  )
  return to ? (
    <Link to={to} class="figure">
      {inner}
    </Link>
  ) : (
    <div class="figure">{inner}</div>
  )
}
