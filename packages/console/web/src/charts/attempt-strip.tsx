/**
 * The last attempts as strokes, oldest first, to show at a glance how the deliveries of a webhook
 * go.
 */
import type { Attempt } from '../server/contract.ts'
import { go } from '../state/router.ts'
import { exact } from '../text/format.ts'
import { statusTone, statusWord } from '../text/states.ts'
import { attemptHref } from '../ui/attempts-table.tsx'

const STROKES = 96

export function AttemptStrip({ attempts }: { attempts: readonly Attempt[] }) {
  const shown = attempts.slice(0, STROKES).toReversed()
  const failed = shown.filter(({ status }) => status === 'failed' || status === 'dead').length
  return (
    <svg
      class="attempt-strip"
      viewBox={`${(shown.length - STROKES) * 5} 0 ${STROKES * 5} 24`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`The last ${shown.length} attempts: ${failed} failed`}
    >
      {shown.map((attempt, index) => {
        const tone = statusTone(attempt.status)
        const height = tone === 'ok' ? 10 : tone === 'idle' ? 4 : tone === 'warn' ? 16 : 22
        return (
          <rect
            key={attempt.id}
            class={`bar ${tone}`}
            x={index * 5 + 1}
            y={23 - height}
            width={3}
            height={height}
            rx={1}
            onClick={() => go(attemptHref(attempt))}
          >
            <title>
              {`${statusWord(attempt.status)} ${attempt.statusCode ?? attempt.error ?? ''}, ${exact(attempt.attemptedAt)}`}
            </title>
          </rect>
        )
      })}
      <line
        class="grid"
        x1={(shown.length - STROKES) * 5}
        x2={shown.length * 5}
        y1={23.5}
        y2={23.5}
      />
    </svg>
  )
}
