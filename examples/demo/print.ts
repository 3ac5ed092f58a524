/** What the demo prints: short lines, at most 80 columns where ids allow it. */
import { styleText } from 'node:util'
import type { Received } from './receiver.ts'

let steps = 0
let isSilent = false

/** Prints nothing from now on: the demo was interrupted. */
export function stopPrinting(): void {
  isSilent = true
}

function print(text: string): void {
  if (!isSilent) console.log(text)
}

export function chapter(title: string): void {
  print(`\n${styleText(['bold', 'cyan'], title)}`)
}

export function step(title: string): void {
  print(`\n${styleText('bold', `${String(++steps).padStart(2)}. ${title}`)}`)
}

export function printRequest(what: string): void {
  print(`    → ${what}`)
}

export function printAnswer(status: number, what: string): void {
  const colour = status < 400 ? 'green' : 'yellow'
  print(`    ← ${styleText(colour, String(status))} ${what}`.trimEnd())
}

export function note(what: string): void {
  print(styleText('dim', `      ${what}`))
}

/** A request that reached the receiver. */
export function printReceived({ delivery, verified, attempt, answered }: Received): void {
  const signature = verified
    ? styleText('green', 'signature verified')
    : styleText('yellow', 'signature wrong')
  const answer = answered === null ? 'no answer' : `answered ${answered}`
  print(`    ⇒ receiver: ${delivery?.event ?? ''} ${short(delivery?.payload)}`)
  print(`      ${signature}, attempt ${attempt}, ${answer}`)
}

/** JSON on one line, cut off at 48 characters. */
export function short(value: unknown): string {
  const json = JSON.stringify(value) ?? ''
  return json.length > 48 ? `${json.slice(0, 47)}…` : json
}
