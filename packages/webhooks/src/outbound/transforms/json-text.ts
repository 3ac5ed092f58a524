/** JSON as indented text, token by token: its numbers stay as they are written, and what is cut is not printed. */

const TOKEN = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+/y
const SPACE = /\s*/y

/**
 * The text that a payload is shown as, cut to `longest` characters: a string as it is, anything else
 * with an indent of two. The work is bounded by `longest`, however deep and large the payload is.
 */
export function shownJson(json: string, longest: number): string {
  const text = json.trimStart().startsWith('"')
    ? stringOf(json.trim(), longest)
    : indented(json, longest)
  if (text.length <= longest) return text
  // A pair is not cut in half: services refuse the half.
  return `${text
    .slice(0, longest - 1)
    .toWellFormed()
    .replace(/\ufffd$/, '')}…`
}

/** An escape of JSON takes six characters at most. */
const ESCAPE = 6

/** The string that a JSON string stands for; of a long one more than `longest` characters. */
function stringOf(json: string, longest: number): string {
  const most = (longest + 2) * ESCAPE
  if (json.length <= most) return JSON.parse(json) as string
  const cut = json.slice(0, most).replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, '')
  // A backslash that is left is one of a pair, or was the first of a cut escape.
  return JSON.parse(`${isOpenEscape(cut) ? cut.slice(0, -1) : cut}"`) as string
}

const isOpenEscape = (text: string): boolean => /\\*$/.exec(text)![0].length % 2 === 1

function indented(json: string, longest: number): string {
  let text = ''
  let depth = 0
  let at = 0
  let before = ''
  while (text.length <= longest) {
    SPACE.lastIndex = at
    SPACE.test(json)
    at = SPACE.lastIndex
    TOKEN.lastIndex = at
    const token = tokenAt(json, at, longest - text.length)
    if (token === null) return text
    at += token.length
    const isClosing = token === '}' || token === ']'
    if (isClosing) depth--
    const isEmpty = isClosing && (before === '{' || before === '[')
    const begins = before === '{' || before === '[' || before === ','
    if ((begins || isClosing) && !isEmpty) {
      // An indent is no longer than the part of it that is shown.
      text += `\n${' '.repeat(Math.min(2 * depth, longest - text.length + 1))}`
    }
    text += token === ':' ? ': ' : token.startsWith('"') ? readable(token) : token
    if (token === '{' || token === '[') depth++
    before = token
  }
  return text
}

/** The next token; of a string that is longer than what is shown, its beginning. */
function tokenAt(json: string, at: number, room: number): string | null {
  if (at >= json.length) return null
  const most = at + (room + 2) * ESCAPE
  const part = json.length > most && json[at] === '"' ? json.slice(at, most) : null
  if (part !== null) {
    const [whole] = /^"(?:[^"\\]|\\.)*"/.exec(part) ?? []
    return whole ?? part
  }
  TOKEN.lastIndex = at
  return TOKEN.exec(json)?.[0] ?? null
}

/** A string without the escapes that it does not need. */
function readable(token: string): string {
  if (!token.includes('\\u') || token.length < 2 || !token.endsWith('"')) return token
  try {
    return JSON.stringify(JSON.parse(token))
  } catch {
    return token
  }
}
