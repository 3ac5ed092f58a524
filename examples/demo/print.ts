import { styleText } from 'node:util'

let steps = 0

export function step(title: string): void {
  console.log(`\n${styleText('bold', `${++steps}. ${title}`)}`)
}

export function sent(what: string): void {
  console.log(`   → ${what}`)
}

export function cameBack(what: string): void {
  console.log(`   ${styleText('green', '←')} ${what}`)
}

export function note(what: string): void {
  console.log(styleText('dim', `     ${what}`))
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
