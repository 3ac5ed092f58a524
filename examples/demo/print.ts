import { styleText } from 'node:util'
import type { Received } from './receiver.ts'

let steps = 0
let isSilent = false

/** Nothing is told from now on: what the end cuts short is no part of the story. */
export function fallSilent(): void {
  isSilent = true
}

function say(text: string): void {
  if (!isSilent) console.log(text)
}

export function step(title: string): void {
  say(`\n${styleText('bold', `${++steps}. ${title}`)}`)
}

export function sent(what: string): void {
  say(`   → ${what}`)
}

export function cameBack(what: string): void {
  say(`   ${styleText('green', '←')} ${what}`)
}

export function note(what: string): void {
  say(styleText('dim', `     ${what}`))
}

export function tellReceived({ delivery, verified, attempt, answered, signature }: Received): void {
  const how = verified ? `signature ${signature.slice(0, 15)}… verified` : 'signature wrong'
  const answer = answered === null ? 'did not answer' : `answered ${answered}`
  cameBack(`the receiver got ${brief(delivery)}`)
  note(`${how}, attempt ${attempt}, ${answer}`)
}

/** JSON on one line, with what must not be shown in full cut off. */
export function brief(value: unknown): string {
  const json = JSON.stringify(value, (key, inner) =>
    (key === 'key' || key === 'secret') && typeof inner === 'string'
      ? `${inner.slice(0, 10)}…`
      : inner,
  )
  return json.length > 220 ? `${json.slice(0, 220)}…` : json
}
