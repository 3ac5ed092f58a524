/** What the demo prints: short lines, of at most 80 columns. */
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
  print(`    → ${cut(what, 74)}`)
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
export const short = (value: unknown): string => cut(JSON.stringify(value) ?? '', 48)

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text
