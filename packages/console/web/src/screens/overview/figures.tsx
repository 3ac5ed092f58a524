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

export function Figures({
  stats: { data, problem, before },
}: {
  stats: Answer<Stats> & { before: readonly StatsPoint[] }
}) {
  const { may } = useSession()
  const { span } = useSpan()
  const health = useCall('health.get', may('health:read') ? {} : null)
  const since = new Date(Date.now() - span.ms).toISOString().slice(0, 17) + '00Z'
  const points = data?.points ?? []
  const [delivered, dead, failed] = COUNTED.map((of) => sum(points, of)) as Counts
  const changes = COUNTED.map((of) => change(sum(points, of), sum(before, of)))
  const latency = points.findLast(({ firstAttemptMs }) => firstAttemptMs.p50 !== null)
    ?.firstAttemptMs.p50
  const queues = health.data?.queues ?? []
  const waiting = queues.reduce((total, queue) => total + queue.waiting + queue.active, 0)
  if (isUnknownOperation(problem)) return null
  return (
    <div class="figures" aria-busy={!data && !problem}>
      <Figure
        to={href('deliveries', { status: 'delivered', since })}
        name="Delivered"
        known={data}
        change={changes[0]}
      >
        {shortCount(delivered)}
      </Figure>
      <Figure
        to={href('deliveries', { rows: 'attempts', status: 'failed', since })}
        name="Failed, tried again"
        known={data}
        change={changes[2]}
        tone={failed > 0 ? 'warn' : ''}
      >
        {shortCount(failed)}
      </Figure>
      <Figure
        to={href('dead-letters', { since })}
        name="Gone dead"
        known={data}
        change={changes[1]}
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

type Counts = [delivered: number, dead: number, failed: number]
const COUNTED = [
  ({ deliveries }: StatsPoint) => deliveries.delivered,
  ({ deliveries }: StatsPoint) => deliveries.dead,
  failedAgain,
]

/** Against as long a time before. */
const change = (now: number, before: number): string =>
  before === 0 ? '' : `${now < before ? '−' : '+'}${Math.round(Math.abs(now / before - 1) * 100)} %`

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
  change,
  children,
}: {
  to?: string
  name: string
  known: unknown
  tone?: string
  change?: string | undefined
  children: ComponentChildren
}) => {
  const inner = (
    <>
      <span title={change && 'Against as long a time before'}>
        {name} {change}
      </span>
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
