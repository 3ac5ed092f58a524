/** Puts our plugins into a file in which a Fastify instance listens, where that is safe. */
import { importLines, registerLines, type LineStyle } from './app-lines.ts'

export type Edit =
  | { text: string; reason?: undefined; app?: undefined; style?: undefined }
  /** Why the file is left as it is, and how the lines for it are written. */
  | { text?: undefined; reason: string; app?: string | undefined; style?: LineStyle }

/** Whether another file of the application, by its path from this one, loads Fastify. */
export type LoadsFastify = (path: string) => boolean

/** What a file loads that is Fastify, or comes from a file that loads it. */
interface Loaded {
  /** Where the first statement that loads it begins. */
  at: number
  /** The names that may be an instance, or make one. */
  names: string[]
  style: Omit<LineStyle, 'awaits'>
}

/** `import Fastify from 'fastify'`, in its variants, but not of types alone. */
const IMPORTED = /^import\s+(?!type\s)([^'"]*?)\s*from\s*(['"])([^'"\n]+)\2/gm
/** The same with `require`, also where the result is called at once. */
const REQUIRED =
  /^(?:const|let|var)\s+([^=]*?)\s*=\s*require\(\s*(['"])([^'"\n]+)\2\s*\)(?:\.\w+)?(\s*\()?/gm

/** Comments, and texts in quotes. One in backticks ends at the next backtick, also within `${…}`. */
const NO_CODE =
  /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`/g

/** The code without its comments and texts. Each character keeps its place: spaces stand for what is left out. */
const codeOnly = (source: string): string =>
  source.replaceAll(NO_CODE, (found) => {
    const isComment = found.startsWith('/')
    const blank = (text: string) => text.replaceAll(/[^\r\n]/g, ' ')
    return isComment ? blank(found) : found.at(0)! + blank(found.slice(1, -1)) + found.at(-1)!
  })

function loadedIn(source: string, code: string, loads: LoadsFastify): Loaded | undefined {
  const names: string[] = []
  let first: RegExpExecArray | undefined
  for (const found of [...source.matchAll(IMPORTED), ...source.matchAll(REQUIRED)]) {
    const [, clause = '', , from = '', isCalled] = found
    // It may stand in a comment.
    if (code[found.index] === ' ') continue
    const isFastify = from === 'fastify'
    if (!isFastify && !(from.startsWith('.') && loads(from))) continue
    const own = isCalled === undefined ? namesIn(clause, isFastify) : [clause.trim()]
    names.push(...own)
    if (own.length > 0) first ??= found
  }
  if (first === undefined) return undefined
  return {
    at: first.index,
    names,
    style: {
      module: first[0].startsWith('import') ? 'import' : 'require',
      quote: first[2] as LineStyle['quote'],
      semicolons: /;[ \t]*$/m.test(code),
    },
  }
}

/** The names that a statement gives to what it loads. */
function namesIn(clause: string, isFastify: boolean): string[] {
  const [, alone] = /^([\w$]+)\s*(?:,|$)/.exec(clause) ?? []
  const [, braces = ''] = /\{([^}]*)\}/.exec(clause) ?? []
  const named = braces.split(',').flatMap((part) => {
    const [, name = '', other] = /^\s*([\w$]+)(?:\s*(?:\bas\b|:)\s*([\w$]+))?\s*$/.exec(part) ?? []
    const isOne = name !== '' && (!isFastify || name === 'fastify' || name === 'default')
    return isOne ? [other ?? name] : []
  })
  return alone === undefined ? named : [alone, ...named]
}

/** Whether it makes instances of Fastify, or may. */
export const loadsFastify = (source: string): boolean =>
  loadedIn(source, codeOnly(source), () => false) !== undefined

/** Not of a channel of Postgres, which has a name. */
const LISTEN = /([\w$]+)\s*\.\s*listen\s*\((?!\s*['"`])/g

/** Whether it has an instance of Fastify, and something in it listens. */
export function listens(source: string, loads: LoadsFastify): boolean {
  const code = codeOnly(source)
  return code.search(LISTEN) !== -1 && loadedIn(source, code, loads) !== undefined
}

/** What may stand in its line before `app.listen(…)`. */
const BEFORE_CALL =
  /^[ \t]*(?:await |void |return (?:await )?|(?:const|let|var) [\w$]+ = (?:await )?)?$/

/** With our lines: imports above that of Fastify, `register` before `listen`. */
export function edited(source: string, loads: LoadsFastify): Edit {
  const code = codeOnly(source)
  const loaded = loadedIn(source, code, loads)
  if (!loaded) return { reason: 'it does not import Fastify' }
  const instances = [...loaded.names, ...loaded.names.flatMap((name) => madeBy(code, name))]
  const [call, another] = [...code.matchAll(LISTEN)].filter(([, name]) => instances.includes(name!))
  const left = (reason: string): Edit => ({
    reason,
    app: call?.[1] ?? loaded.names.flatMap((name) => madeBy(code, name))[0],
    // At the top level of a module it may.
    style: { ...loaded.style, awaits: loaded.style.module === 'import' },
  })
  if (call === undefined) return left('what listens is not an instance of Fastify')
  if (another !== undefined) return left('it listens more than once')
  const [, app = ''] = call
  const before = code.slice(0, call.index)
  if (before.includes(`${app}.ready(`) || before.includes(`${app}.inject(`)) {
    return left(`${app} is ready before it listens, and takes no plugin then`)
  }
  const start = before.lastIndexOf('\n') + 1
  const inLine = before.slice(start)
  if (!BEFORE_CALL.test(inLine) || !isStatement(code.slice(0, start), indentOf(inLine))) {
    return left('listen() is within another statement')
  }
  // Elsewhere it may not be allowed to: Fastify loads in listen() what was registered.
  const style = { ...loaded.style, awaits: inLine.includes('await ') }
  const eol = source.includes('\r\n') ? '\r\n' : '\n'
  const block = (lines: string[]) => lines.map((line) => line + eol).join('')
  const register = registerLines(app, style).map((line) => indentOf(inLine) + line)
  return {
    text: [
      source.slice(0, loaded.at),
      block(importLines(style)),
      source.slice(loaded.at, start),
      block(register),
      source.slice(start),
    ].join(''),
  }
}

/** The names that get what a call returns. */
function madeBy(code: string, name: string): string[] {
  const assigned = new RegExp(
    String.raw`([\w$]+)(?:[ \t]*:[^=;\n]+)?\s*=\s*(?:await\s+)?${name.replaceAll('$', String.raw`\$`)}\s*[(<]`,
    'g',
  )
  return [...code.matchAll(assigned)].map(([, found]) => found!)
}

const indentOf = (line: string): string => /^[ \t]*/.exec(line)![0]

/** Whether a line with this indentation begins a statement of its own below this code. */
function isStatement(code: string, indent: string): boolean {
  const above = code.trimEnd().split('\n').at(-1)!.trimEnd()
  if (/[;{}]$/.test(above) || above === '') return true
  const goesOn = /(?:=>|[=,(?:&|+\-*/<>.[]|\b(?:else|do|return|await))$/.test(above)
  const isCondition = /^\s*(?:\}\s*)?(?:else\s+)?(?:if|for|while)\b/.test(above)
  return !goesOn && !isCondition && indent.length <= indentOf(above).length
}
