/** Counts over time, stacked: one bar for each point. */
import { count, shortCount } from '../text/format.ts'
import { Chart, type Plot, type Series } from './chart.tsx'

export function Bars({
  label,
  at,
  series,
  to,
}: {
  label: string
  at: readonly string[]
  series: readonly Series[]
  /** Where a click on a bar leads. */
  to?: (at: string) => string
}) {
  const heights = at.map((_, index) =>
    series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  )
  return (
    <Chart
      label={label}
      at={at}
      series={series}
      to={to}
      greatest={Math.max(0, ...heights)}
      show={shortCount}
      summary={({ values }) => count(values.reduce<number>((sum, value) => sum + (value ?? 0), 0))}
      draw={(plot) =>
        at.map((one, index) => <Stack key={one} index={index} series={series} plot={plot} />)
      }
    />
  )
}

function Stack({ index, series, plot }: { index: number; series: readonly Series[]; plot: Plot }) {
  const width = Math.max(1, Math.min(plot.step * 0.72, 28))
  const x = plot.x(index) + (plot.step - width) / 2
  let below = 0
  return (
    <>
      {series.map(({ name, tone, values }) => {
        const value = values[index] ?? 0
        if (value === 0) return null
        const top = plot.y(below + value)
        // A single failure among thousands stays visible, because it is the one to find.
        const height = Math.max(2, plot.y(below) - top)
        below += value
        return (
          <rect
            key={name}
            class={`bar ${tone}`}
            x={x}
            y={top}
            width={width}
            height={height}
            rx={1.5}
          />
        )
      })}
    </>
  )
}
