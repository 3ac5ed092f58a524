/** Puts our plugins into a file that makes a Fastify instance and listens, where that is safe. */
import { importLines, registerLines, type LineStyle } from './app-lines.ts'
import { codeOnly } from './code-only.ts'

export type Edit =
  | { text: string; reason?: undefined }
  /** Why the file is left as it is. */
  | { text?: undefined; reason: string }

/** `import Fastify from 'fastify'`, in its variants, but not of types alone. */
const IMPORTED = /^import\s+(?!type\s)([^'"]*?)\s*from\s*(['"])fastify\2/m
const REQUIRED = /^(?:const|let|var)\s+([^=]*?)\s*=\s*require\(\s*(['"])fastify\2\s*\)(\s*\()?/m

interface Factory {
  /** Where the statement that loads it begins. */
  at: number
  /** What makes an instance; undefined where the statement is `const app = require('fastify')()`. */
  name?: string | undefined
  /** The instance of such a statement. */
  instance?: string | undefined
  style: Omit<LineStyle, 'awaits'>
}

function factoryOf(source: string, code: string): Factory | undefined {
  const found = IMPORTED.exec(source) ?? REQUIRED.exec(source)
  // It may stand in a comment.
  if (!found || code[found.index] === ' ') return undefined
  const [whole, names = '', quote, isCalled] = found
  const style = {
    module: whole.startsWith('import') ? 'import' : 'require',
    quote: quote as LineStyle['quote'],
    semicolons: /;[ \t]*$/m.test(code),
  } as const
  if (isCalled !== undefined) return { at: found.index, instance: names, style }
  const [, alone] = /^([\w$]+)\s*(?:,|$)/.exec(names) ?? []
  const [named, renamed] =
    /[{,]\s*(?:fastify|default)(?:\s*(?:as\s|:)\s*([\w$]+))?\s*(?=[,}])/.exec(names) ?? []
  const name = alone ?? renamed ?? (named && 'fastify')
  return name === undefined ? undefined : { at: found.index, name, style }
}

const LISTEN = /([\w$]+)\s*\.\s*listen\s*\(/g

/** Whether it makes an instance of Fastify, and something in it listens. */
export function listens(source: string): boolean {
  const code = codeOnly(source)
  return factoryOf(source, code) !== undefined && code.search(LISTEN) !== -1
}

/** What may stand in its line before `app.listen(…)`. */
const BEFORE_CALL =
  /^[ \t]*(?:await |void |return (?:await )?|(?:const|let|var) [\w$]+ = (?:await )?)?$/

/** With our lines: imports above that of Fastify, `register` before `listen`. */
export function edited(source: string): Edit {
  const code = codeOnly(source)
  const factory = factoryOf(source, code)
  if (!factory) return { reason: 'it does not import Fastify' }
  const instances = instancesOf(code, factory)
  const [call, another] = [...code.matchAll(LISTEN)].filter(([, name]) => instances.includes(name!))
  if (call === undefined) return { reason: 'what listens is not an instance that it makes' }
  if (another !== undefined) return { reason: 'it listens more than once' }
  const [, app = ''] = call
  const before = code.slice(0, call.index)
  if (before.includes(`${app}.ready(`) || before.includes(`${app}.inject(`)) {
    return { reason: `${app} is ready before it listens, and takes no plugin then` }
  }
  const start = before.lastIndexOf('\n') + 1
  const inLine = before.slice(start)
  if (!BEFORE_CALL.test(inLine) || !isStatement(code.slice(0, start), indentOf(inLine))) {
    return { reason: 'listen() is within another statement' }
  }
  // Elsewhere it may not be allowed to: Fastify loads in listen() what was registered.
  const style = { ...factory.style, awaits: inLine.includes('await ') }
  const eol = source.includes('\r\n') ? '\r\n' : '\n'
  const block = (lines: string[]) => lines.map((line) => line + eol).join('')
  const register = registerLines(app, style).map((line) => indentOf(inLine) + line)
  return {
    text: [
      source.slice(0, factory.at),
      block(importLines(style)),
      source.slice(factory.at, start),
      block(register),
      source.slice(start),
    ].join(''),
  }
}

/** The names that get an instance of the factory. */
function instancesOf(code: string, { name, instance }: Factory): string[] {
  if (name === undefined) return [instance!]
  const assigned = new RegExp(
    String.raw`([\w$]+)(?:\s*:[^=;]+)?\s*=\s*(?:await\s+)?${name.replaceAll('$', String.raw`\$`)}\s*[(<]`,
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
