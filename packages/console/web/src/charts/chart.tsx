/**
 * What the charts share: width, axes, a picked point. The point under the pointer, or that of the
 * arrow keys, is shown in the legend; without one the legend shows what `summary` makes of a series.
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { go } from '../state/router.ts'
import { clock, day } from '../text/format.ts'
import { ticks, roundUp } from './scale.ts'

export type SeriesTone = 'ok' | 'warn' | 'bad' | 'idle' | 'accent' | 'faint'

export interface Series {
  name: string
  tone: SeriesTone
  /** `null`: nothing was measured. */
  values: readonly (number | null)[]
}

export interface Plot {
  x: (index: number) => number
  y: (value: number) => number
  step: number
}

const HEIGHT = 168
/** The width of a time, at most. */
const LABEL = 40
const MARGIN = { top: 8, right: 4, bottom: 22, left: 48 }

interface ChartProps {
  label: string
  /** When each point begins. */
  at: readonly string[]
  series: readonly Series[]
  /** The greatest value that is drawn. */
  greatest: number
  show: (value: number) => string
  summary: (series: Series) => string
  draw: (plot: Plot) => ComponentChildren
  /** Where a click on a point leads, or Enter. */
  to?: ((at: string) => string) | undefined
}

export function Chart({ label, at, series, greatest, show, summary, draw, to }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  const [picked, setPicked] = useState<number | null>(null)
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const top = roundUp(greatest)
  const step = Math.max(0, width - MARGIN.left - MARGIN.right) / Math.max(1, at.length)
  const plot: Plot = {
    step,
    x: (index) => MARGIN.left + step * index,
    y: (value) => MARGIN.top + (HEIGHT - MARGIN.top - MARGIN.bottom) * (1 - value / top),
  }
  const bounded = (index: number) => Math.min(at.length - 1, Math.max(0, index))
  const chosen = picked === null ? undefined : at[picked]
  const follow = () => {
    if (to && chosen) go(to(chosen))
  }
  return (
    <figure class="chart">
      <figcaption class="legend">
        {series.map((one) => (
          <span key={one.name} class="legend-item" aria-hidden={picked !== null}>
            <i class={`swatch ${one.tone}`} />
            {one.name} <b>{picked === null ? summary(one) : shown(one.values[picked], show)}</b>
          </span>
        ))}
        <span class="legend-time" aria-live="polite">
          {chosen && whenOf(chosen, at)}
          {chosen && (
            <span class="unseen">
              {series
                .map(({ name, values }) => `${name} ${shown(values[picked ?? 0], show)}`)
                .join(', ')}
            </span>
          )}
        </span>
      </figcaption>
      <div ref={frame} class="plot">
        {width > 0 && (
          <svg
            width={width}
            height={HEIGHT}
            role="img"
            tabindex={0}
            aria-label={`${label}. ${series.map((one) => `${one.name}: ${summary(one)}`).join(', ')}. The arrow keys read single points${to ? ', Enter shows the attempts of one' : ''}.`}
            onPointerMove={({ offsetX }) =>
              setPicked(bounded(Math.floor((offsetX - MARGIN.left) / step)))
            }
            class={to && 'leads'}
            onClick={follow}
            onPointerLeave={() => setPicked(null)}
            onBlur={() => setPicked(null)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') follow()
              const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
              if (!move) return
              event.preventDefault()
              setPicked((before) => bounded((before ?? (move > 0 ? -1 : at.length)) + move))
            }}
          >
            {[0, 0.5, 1].map((share) => (
              <g key={share}>
                <line
                  class="grid"
                  x1={MARGIN.left}
                  x2={width}
                  y1={plot.y(top * share)}
                  y2={plot.y(top * share)}
                />
                <text class="axis end" x={MARGIN.left - 8} y={plot.y(top * share) + 4}>
                  {show(top * share)}
                </text>
              </g>
            ))}
            {ticks(at, Math.max(2, Math.floor(width / 110))).map((index) => {
              const isAtEnd = plot.x(index) > width - LABEL
              return (
                <text
                  key={index}
                  class={isAtEnd ? 'axis end' : 'axis'}
                  x={isAtEnd ? width : plot.x(index)}
                  y={HEIGHT - 4}
                >
                  {tickOf(at[index] ?? '', at)}
                </text>
              )
            })}
            {picked !== null && (
              <rect
                class="picked"
                x={plot.x(picked)}
                y={MARGIN.top}
                width={step}
                height={HEIGHT - MARGIN.top - MARGIN.bottom}
              />
            )}
            {draw(plot)}
          </svg>
        )}
      </div>
    </figure>
  )
}

const shown = (value: number | null | undefined, show: (value: number) => string): string =>
  value === null || value === undefined ? '–' : show(value)

const HOURS_36 = 36 * 3_600_000

const isLong = (at: readonly string[]): boolean =>
  new Date(at.at(-1) ?? 0).getTime() - new Date(at[0] ?? 0).getTime() > HOURS_36

const tickOf = (one: string, at: readonly string[]): string =>
  isLong(at) ? day(one).slice(5) : clock(one)

const whenOf = (one: string, at: readonly string[]): string =>
  isLong(at) ? `${day(one)} ${clock(one)}` : clock(one)
