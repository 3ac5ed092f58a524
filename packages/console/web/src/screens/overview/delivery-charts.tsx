/** Deliveries and latency over a span, from the roll-ups: of all webhooks, or of one. */
import type { Stats, StatsPoint } from '../../server/contract.ts'
import { isUnknownOperation } from '../../server/call.ts'
import { Bars } from '../../charts/bars.tsx'
import { Lines } from '../../charts/lines.tsx'
import { useCall, type Answer } from '../../state/queries.ts'
import { href, useFilters } from '../../state/router.ts'
import { Panel } from '../../ui/layout.tsx'
import { Loading, ProblemNote } from '../../ui/notes.tsx'
import { Segments } from '../../ui/segments.tsx'

const HOUR_MS = 3_600_000

/** How far back, and in which steps. */
const SPANS = {
  hour: { ms: HOUR_MS, by: 'minute' },
  day: { ms: 24 * HOUR_MS, by: 'hour' },
  month: { ms: 720 * HOUR_MS, by: 'day' },
} as const
const SPAN_NAMES = { hour: '1 hour', day: '24 hours', month: '30 days' }

type SpanName = keyof typeof SPANS

export function useSpan() {
  const { values, set } = useFilters(['span'])
  const name: SpanName = values.span in SPANS ? (values.span as SpanName) : 'day'
  return { name, span: SPANS[name], setSpan: (span: SpanName) => set({ span }) }
}

/** `null`: the session may not see them. `before`: of as long a time before the span, if it is asked for. */
export function useStats(of: { webhookId?: string } | null, isCompared = false) {
  const { name, span } = useSpan()
  const input = () => ({
    ...of,
    by: span.by,
    from: new Date(Date.now() - (isCompared ? 2 : 1) * span.ms).toISOString(),
  })
  const { data, ...answer } = useCall('stats.get', of && input, { key: [name, of] })
  const points = data?.points ?? []
  const from = isCompared ? Math.floor(points.length / 2) : 0
  const shown = data && { ...data, points: points.slice(from) }
  return { ...answer, data: shown, before: points.slice(0, from) }
}

export function SpanChoice() {
  const { name, setSpan } = useSpan()
  return <Segments label="Span of the charts" names={SPAN_NAMES} chosen={name} onChosen={setSpan} />
}

export function DeliveryCharts({
  stats,
  of,
  hasChoice = true,
}: {
  stats: Answer<Stats>
  /** Of which webhook; of all without it. */
  of?: string
  /** The span is chosen here. */
  hasChoice?: boolean
}) {
  const { span } = useSpan()
  if (isUnknownOperation(stats.problem)) return null
  return (
    <>
      <div class="part-head">
        <h2>Deliveries</h2>
        {hasChoice && <SpanChoice />}
      </div>
      {stats.problem && !stats.data && <ProblemNote problem={stats.problem} retry={stats.reload} />}
      <Charts stats={stats} of={of} span={STEPS[span.by]} />
    </>
  )
}

/** Failed attempts that were not the last one: of the others the delivery is dead. */
export const failedAgain = ({ attempts, deliveries }: StatsPoint): number =>
  Math.max(0, attempts.failed - deliveries.dead)

const STEPS = { minute: 60_000, hour: HOUR_MS, day: 24 * HOUR_MS }

function Charts({
  stats: { data, loading },
  of,
  span,
}: {
  stats: Answer<Stats>
  of: string | undefined
  span: number
}) {
  const points = data?.points ?? []
  const at = points.map((point) => point.at)
  if (!data && !loading) return null
  return (
    <div class="columns even">
      <Panel title="Attempts">
        {loading && <Loading like="chart" />}
        {data && (
          <Bars
            label="Attempts over time"
            at={at}
            to={(since) =>
              href('deliveries', {
                rows: 'attempts',
                webhookId: of,
                since,
                until: new Date(new Date(since).getTime() + span).toISOString(),
              })
            }
            series={[
              {
                name: 'Delivered',
                tone: 'ok',
                values: points.map(({ attempts }) => attempts.delivered),
              },
              { name: 'Failed', tone: 'warn', values: points.map(failedAgain) },
              {
                name: 'Dead',
                tone: 'bad',
                values: points.map(({ deliveries }) => deliveries.dead),
              },
            ]}
          />
        )}
      </Panel>
      <Panel title="How long receivers take">
        {loading && <Loading like="chart" />}
        {data && (
          <Lines
            label="Duration of attempts"
            at={at}
            series={[
              {
                name: 'Median',
                tone: 'accent',
                values: points.map(({ durationMs }) => durationMs.p50),
              },
              {
                name: '95 %',
                tone: 'warn',
                values: points.map(({ durationMs }) => durationMs.p95),
              },
              {
                name: '99 %',
                tone: 'faint',
                values: points.map(({ durationMs }) => durationMs.p99),
              },
            ]}
          />
        )}
      </Panel>
    </div>
  )
}
