/**
 * Copies of the packages in one process: each has its own modules, which are compiled apart. The
 * copies whose names begin with "cut" lack the lines that ask whether telemetry is on.
 */
import { registerHooks } from 'node:module'

const PACKAGES = new URL('../packages/', import.meta.url).href
const MARK = /\?copy=([\w-]+)$/

const CUTS: [file: RegExp, cut: [wanted: RegExp, instead: string]][] = [
  [/\/auth\/src\/guard\/guard\.ts$/, [/^ *if \(telemetry !== null\) telemetry\..*$/gm, '']],
  [/\/core\/src\/events\/event-bus\.ts$/, [/\bpublishes\.isOn\b/g, 'false']],
  [/\/core\/src\/jobs\/pump\/attempts\.ts$/, [/\btelemetry\.isOn\b/g, 'false']],
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
    if (!MARK.exec(url)?.[1]?.startsWith('cut')) return loaded
    const [, found] = CUTS.find(([file]) => file.test(url.replace(MARK, ''))) ?? []
    if (!found) return loaded
    const source = Buffer.from(loaded.source as Uint8Array).toString()
    return { ...loaded, source: cut(source, ...found) }
  },
})

function cut(source: string, wanted: RegExp, instead: string): string {
  const without = source.replace(wanted, instead)
  if (without === source) throw new Error(`copies: there is nothing like ${wanted}`)
  return without
}
