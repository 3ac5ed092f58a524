/** Durations over time: a line for each series, broken where nothing was measured. */
import { duration } from '../text/format.ts'
import { Chart, type Plot, type Series } from './chart.tsx'

export function Lines({
  label,
  at,
  series,
}: {
  label: string
  at: readonly string[]
  series: readonly Series[]
}) {
  const all = series.flatMap(({ values }) => values.filter((value) => value !== null))
  return (
    <Chart
      label={label}
      at={at}
      series={series}
      greatest={Math.max(0, ...all)}
      show={duration}
      summary={({ values }) => duration(values.findLast((value) => value !== null))}
      draw={(plot) => series.map((one) => <Line key={one.name} series={one} plot={plot} />)}
    />
  )
}

function Line({ series: { tone, values }, plot }: { series: Series; plot: Plot }) {
  const middle = (index: number) => plot.x(index) + plot.step / 2
  const alone = values.flatMap((value, index) =>
    value !== null && !isMeasured(values, index - 1) && !isMeasured(values, index + 1)
      ? [{ index, value }]
      : [],
  )
  return (
    <>
      <path class={`line ${tone}`} d={pathOf(values, middle, plot.y)} />
      {alone.map(({ index, value }) => (
        <circle key={index} class={`dot ${tone}`} cx={middle(index)} cy={plot.y(value)} r={2.5} />
      ))}
    </>
  )
}

const isMeasured = (values: Series['values'], index: number): boolean =>
  values[index] !== null && values[index] !== undefined

function pathOf(
  values: Series['values'],
  x: (index: number) => number,
  y: (value: number) => number,
) {
  let path = ''
  let drawing = false
  for (const [index, value] of values.entries()) {
    if (value !== null)
      path += `${drawing ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`
    drawing = value !== null
  }
  return path
}
