import { useState } from 'preact/hooks'
import type { Usage } from '../../server/contract.ts'
import { Bars } from '../../charts/bars.tsx'
import { useCall } from '../../state/queries.ts'
import { Panel } from '../../ui/layout.tsx'
import { Answered } from '../../ui/notes.tsx'
import { Segments } from '../../ui/segments.tsx'

const SPANS = { hour: '24 hours', day: '30 days' }

/** Requests by what came of them: of one key, or of all. */
export function UsagePanel({ title, keyId }: { title: string; keyId?: string }) {
  const [by, setBy] = useState<'hour' | 'day'>('hour')
  const usage = useCall('keys.usage', { by, ...(keyId && { keyId }) })
  return (
    <Panel
      title={title}
      actions={<Segments label="Span of the usage" names={SPANS} chosen={by} onChosen={setBy} />}
    >
      <Answered of={usage} quietly like="chart">
        {(data) => <Requests usage={data} />}
      </Answered>
    </Panel>
  )
}

const Requests = ({ usage: { points } }: { usage: Usage }) => (
  <Bars
    label="Requests over time"
    at={points.map(({ at }) => at)}
    series={[
      { name: 'Allowed', tone: 'accent', values: points.map(({ allowed }) => allowed) },
      {
        name: 'Limited',
        tone: 'warn',
        values: points.map((point) => point.rate_limited + point.quota_exceeded),
      },
      {
        name: 'Refused',
        tone: 'bad',
        values: points.map((point) => point.forbidden + point.expired),
      },
    ]}
  />
)
