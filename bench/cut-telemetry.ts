/**
 * Loaded with `--import`, it takes out of our sources what asks whether telemetry is on: the process
 * that is left shows what that costs where no SDK is registered.
 */
import { registerHooks } from 'node:module'

const CUTS: [file: RegExp, [wanted: RegExp, instead: string]][] = [
  [/\/auth\/src\/guard\/guard\.ts$/, [/^ *if \(telemetry !== null\) telemetry\..*$/gm, '']],
  [/\/core\/src\/events\/event-bus\.ts$/, [/\bpublishes\.isOn\b/g, 'false']],
  [/\/core\/src\/jobs\/pump\/attempts\.ts$/, [/\btelemetry\.isOn\b/g, 'false']],
]

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const [, found] = CUTS.find(([file]) => file.test(url)) ?? []
    if (!found) return loaded
    const source = Buffer.from(loaded.source as Uint8Array).toString()
    return { ...loaded, source: cut(source, ...found) }
  },
})

function cut(source: string, wanted: RegExp, instead: string): string {
  const without = source.replace(wanted, instead)
  if (without === source) throw new Error(`cut-telemetry: there is nothing like ${wanted}`)
  return without
}
