/**
 * Masks secrets in the answer of a receiver. Debugging pages and error pages repeat what they were
 * sent, and what is kept of an answer is shown to whoever may read deliveries, and stored for long.
 */
import { MASK } from '../settings/custom-headers.ts'

/** A shorter text may be any word: it is no secret, and an answer without it would say nothing. */
export const SHORTEST_SECRET = 4
const SHORTEST_PART = 8
/** The end of the text may cut a secret off: its beginning is masked if it has this many characters. */
const SHORTEST_CUT = 4

/** The spellings of secrets to look for, the longest first. */
export type SecretSpellings = readonly string[]

/** How many sets of spellings are kept: a webhook has one. */
const MOST_KNOWN = 500
const known = new Map<string, SecretSpellings>()

export function maskedAnswer(text: string, given: readonly string[], isCut: boolean): string {
  // A text that is whole repeats no secret that is longer.
  const secrets = isCut ? given : given.filter((secret) => mayStandIn(text, secret))
  if (secrets.length === 0) return text
  const key = secrets.join('\n')
  let spellings = known.get(key)
  if (spellings === undefined) {
    if (known.size >= MOST_KNOWN) known.clear()
    spellings = spellingsOf(secrets)
    known.set(key, spellings)
  }
  return maskSecrets(text, spellings, isCut)
}

/** Whether a text has the length of what is looked for: the secret, or the shortest part of it. */
const mayStandIn = (text: string, secret: string): boolean =>
  text.length >= (isOneWord(secret) ? secret.length - 6 : SHORTEST_PART)

/** Without its prefix (`whsec_`), which has six characters at most, it has no parts. */
const isOneWord = (secret: string): boolean => /^wh[a-z]{2,3}_[^\s:;,=]+=*$/.test(secret)

/**
 * Each secret whole, its parts (`Bearer <token>`, `user:password`, `a=b; c=d`), and each of them as
 * it is, in base64, percent-encoded, and as JSON and HTML escape it.
 */
export function spellingsOf(secrets: readonly string[]): SecretSpellings {
  const texts = new Set<string>()
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) texts.add(secret)
    for (const part of [
      ...secret.split(/[\s:;,=]+/),
      ...secret.split(/[\s;,]+/),
      plainOf(secret),
    ]) {
      if (part.length >= SHORTEST_PART) texts.add(part)
    }
    const password = plainOf(secret).replace(/^[^:]*:/, '')
    if (password.length >= SHORTEST_PART) texts.add(password)
  }
  const spellings = new Set<string>()
  for (const text of texts) for (const spelling of spelled(text)) spellings.add(spelling)
  return [...spellings].toSorted((a, b) => b.length - a.length)
}

/** What base64 says in `Basic <base64>` and `whsec_<base64>`; empty where it is no text. */
function plainOf(secret: string): string {
  const [, base64] = /^(?:Basic +|wh[a-z]+_)([A-Za-z0-9+/_-]+=*)$/i.exec(secret) ?? []
  if (base64 === undefined) return ''
  const plain = Buffer.from(base64, 'base64').toString()
  return /^[\x20-\x7e]+$/.test(plain) ? plain : ''
}

const HTML: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function* spelled(text: string): Generator<string> {
  yield text
  if (/^wh[a-z]+_/.test(text)) yield text.replace(/^wh[a-z]+_/, '')
  // Node sends the characters of a header as bytes of Latin-1.
  const latin = Buffer.from(text, 'latin1')
  const bytes = Buffer.from(text)
  yield bytes.toString('latin1')
  yield latin.toString()
  for (const one of latin.equals(bytes) ? [bytes] : [bytes, latin]) {
    yield one.toString('hex')
    // Within a longer text, the base64 depends on how many bytes come before.
    for (const before of [0, 1, 2]) {
      const base64 = Buffer.concat([Buffer.alloc(before), one]).toString('base64')
      const start = Math.ceil((before * 8) / 6)
      const end = Math.floor(((before + one.length) * 8) / 6)
      const inner = base64.slice(start, end)
      yield inner
      yield inner.replaceAll('+', '-').replaceAll('/', '_')
    }
  }
  for (const one of [text, bytes.toString('latin1'), latin.toString()]) {
    if (one.isWellFormed()) {
      const encoded = encodeURIComponent(one)
      yield encoded
      yield encoded.replaceAll('%20', '+')
      yield encodeURI(one)
      yield encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
    }
    const json = JSON.stringify(one).slice(1, -1)
    yield json
    yield json.replaceAll('/', '\\/')
    yield json.replace(/[<>&'\u007f-\uffff]/g, unicodeEscape)
    const html = one.replace(/[&<>"]/g, (character) => HTML[character]!)
    yield html
    yield html.replaceAll("'", '&#39;')
    yield html.replaceAll("'", '&#x27;')
  }
}

const unicodeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** @param isCut whether the text may end inside a secret */
export function maskSecrets(text: string, spellings: SecretSpellings, isCut: boolean): string {
  let masked = text
  for (const spelling of spellings) {
    if (spelling.length <= masked.length) masked = masked.replaceAll(spelling, MASK)
  }
  return isCut ? withoutCut(masked, spellings) : masked
}

function withoutCut(text: string, spellings: SecretSpellings): string {
  let longest = 0
  for (const spelling of spellings) {
    const most = Math.min(spelling.length - 1, text.length)
    for (let length = most; length >= SHORTEST_CUT && length > longest; length--) {
      if (text.endsWith(spelling.slice(0, length))) longest = length
    }
  }
  return longest === 0 ? text : text.slice(0, -longest) + MASK
}
