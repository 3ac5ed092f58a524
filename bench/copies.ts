/**
 * Copies of the packages in one process: each has its own modules, which are compiled apart. In a
 * copy whose name begins with "again", what asks whether telemetry is on asks a hundred times more:
 * one question takes less time than two copies of the same code differ by.
 */
import { registerHooks } from 'node:module'

export const TIMES = 100

const PACKAGES = new URL('../packages/', import.meta.url).href
const MARK = /\?copy=([\w-]+)$/

/** Of a hundred objects, since the compiler would ask one of them once. */
const PREAMBLE = `const OFF = Array.from({ length: ${TIMES} }, () => ({ isOn: false }))
const NONE = Array.from({ length: ${TIMES} }, () => null)
const isOnAgain = (telemetry) => {
  let isOn = telemetry.isOn
  for (let i = 0; i < ${TIMES}; i++) isOn = OFF[i].isOn || isOn
  return isOn
}
const askAgain = (ask) => {
  let answer = ask()
  for (let i = 0; i < ${TIMES}; i++) answer = ask() || answer
  return answer
}
`
const EDITS: [file: RegExp, [wanted: RegExp, instead: string]][] = [
  [
    /\/auth\/src\/guard\/guard\.ts$/,
    [
      /^ *(if \(telemetry !== null\)) (telemetry)(\..*)$/gm,
      `$&\n for (let i = 0; i < ${TIMES}; i++) if (NONE[i] !== null) NONE[i]$3`,
    ],
  ],
  [/\/core\/src\/events\/publish\.ts$/, [/\bpublishes\.isOn\b/g, 'isOnAgain(publishes)']],
  [/\/core\/src\/jobs\/pump\/attempts\.ts$/, [/\btelemetry\.isOn\b/g, 'isOnAgain(telemetry)']],
  [
    /\/core\/src\/events\/publish-sql\.ts$/,
    [/events\.some\(\(\{ traceContext \}\) => traceContext\)/g, 'askAgain(() => $&)'],
  ],
]

/** Imports a module of a copy. What it imports of the packages is of the same copy. */
export const importCopy = async <Module>(specifier: string, copy: string): Promise<Module> =>
  (await import(`${specifier}?copy=${copy}`)) as Module

registerHooks({
  resolve(specifier, context, nextResolve) {
    const asked = MARK.exec(specifier)?.[1]
    const copy = asked ?? MARK.exec(context.parentURL ?? '')?.[1]
    const resolved = nextResolve(asked ? specifier.replace(MARK, '') : specifier, context)
    const isOurs = resolved.url.startsWith(PACKAGES) && !resolved.url.includes('/node_modules/')
    return copy && isOurs ? { ...resolved, url: `${resolved.url}?copy=${copy}` } : resolved
  },
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!MARK.exec(url)?.[1]?.startsWith('again')) return loaded
    const [, found] = EDITS.find(([file]) => file.test(url.replace(MARK, ''))) ?? []
    if (!found) return loaded
    const source = Buffer.from(loaded.source as Uint8Array).toString()
    return { ...loaded, source: PREAMBLE + edited(source, ...found) }
  },
})

function edited(source: string, wanted: RegExp, instead: string): string {
  const result = source.replace(wanted, instead)
  if (result === source) throw new Error(`copies: there is nothing like ${wanted}`)
  return result
}
