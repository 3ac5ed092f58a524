/** Payloads and answers, as text and nothing else; long ones are folded. */
import { useState } from 'preact/hooks'
import { bytes, count } from '../text/format.ts'
import { Button } from './button.tsx'
import { withoutTurns } from './direction.ts'
import { Copy } from './facts.tsx'

const FOLDED_LINES = 40
/** It is shown whole, however many lines it has. */
const SHORT_CHARACTERS = 2000
const FOLDED_CHARACTERS = 4000
/** What the page lays out at once: megabytes of text would hold it up for seconds. */
const STEP_CHARACTERS = 100_000

export function Code({
  text,
  what,
  original = text,
  size = new Blob([original]).size,
}: {
  text: string
  what: string
  /** What it was before it was indented: that is copied. */
  original?: string
  /** In bytes. @default that of `original` */
  size?: number
}) {
  const [characters, setCharacters] = useState(FOLDED_CHARACTERS)
  const folded = withoutTurns(fold(text, characters))
  const rest = text.length - fold(text, characters).length
  return (
    <figure class="code">
      <pre dir="ltr" tabindex={0} aria-label={what}>
        <code>{folded}</code>
      </pre>
      <figcaption>
        <span class="faint">{bytes(size)}</span>
        {rest > 0 && (
          <Button kind="quiet" onClick={() => setCharacters(nextStep(characters))}>
            {`Show more (${count(rest)} characters left)`}
          </Button>
        )}
        {characters > FOLDED_CHARACTERS && (
          <Button kind="quiet" onClick={() => setCharacters(FOLDED_CHARACTERS)}>
            Fold
          </Button>
        )}
        <Copy text={original} what={what} />
      </figcaption>
    </figure>
  )
}

const nextStep = (characters: number): number =>
  characters === FOLDED_CHARACTERS ? STEP_CHARACTERS : characters + STEP_CHARACTERS

function fold(text: string, characters: number): string {
  const part = text.slice(0, characters)
  if (characters > FOLDED_CHARACTERS || text.length <= SHORT_CHARACTERS) return part
  const lines = part.split('\n', FOLDED_LINES + 1)
  return lines.length > FOLDED_LINES ? lines.slice(0, FOLDED_LINES).join('\n') : part
}

export const Json = ({ value, what }: { value: unknown; what: string }) => (
  <Code text={JSON.stringify(value, null, 2) ?? 'null'} what={what} />
)

/** Text that may be JSON: indented where it is. */
export const MaybeJson = ({ text, ...of }: { text: string; what: string; size?: number }) => (
  <Code text={indented(text)} original={text} {...of} />
)

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
