// Writes packages/webhooks/docs/providers.md from the presets: `node scripts/provider-table.ts`.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { providers } from '../packages/webhooks/src/inbound/providers.ts'
import type { Preset } from '../packages/providers/src/preset.ts'
import { presets } from '../packages/providers/src/presets/all.ts'

export const DOCUMENT = new URL('../packages/webhooks/docs/providers.md', import.meta.url)

const HEAD = `<!-- Written by scripts/provider-table.ts from the presets: change those, and run it. -->

# Providers

There are presets for COUNT senders. A preset verifies and deduplicates requests, and names their events: [how to use presets](inbound.md#presets).

- **secret, options**: the value of the secret \`secretName\`, and the options that the preset requires; those with a question mark it may have.
- **checked**: what the preset was checked against. \`vector\` is a signed request that the provider has published, and is in \`tests/providers/vectors\`. \`sdk\` is the provider's own library: its source, or requests that it signed or accepted. \`documentation\` is the provider's own page. There are no presets that are based on third parties alone.
- **repeat**: the deduplication key, of signed values where the provider signs any, and of the type (\`{type}\`: what follows the first dot of the event's name); – if the provider sends nothing by which a repeat can be recognised.
- **events**: the name of the event. A name that is read from a header (\`{header:…}\`) is not signed, unless the row's note says so or the header is among those that are signed.
- **age**: how far the request's timestamp may be from now, which \`toleranceSeconds\` changes; – if the age is not checked.

| preset | verified by | secret, options | events | repeat | age | checked |
| ------ | ----------- | --------------- | ------ | ------ | --- | ------- |
`

/** The text of the document. */
export function providersDocument(): string {
  const all = providers.list()
  const rows = all.map(({ id, name, scheme, docs, checked }) => {
    const preset: Preset = presets[id]
    return [
      `\`${id}\`<br>[${name}](${docs})`,
      scheme,
      secretOf(preset),
      [preset.type ?? 'event']
        .flat()
        .map((type) => code(`${id}.${type.replace(/(\{key:\w+),[^}]*\}/, '$1,…}')}`))
        .join('<br>'),
      [preset.deduplicate ?? []].flat().map(code).join('<br>') || '–',
      ageOf(preset),
      checked,
    ]
  })
  const notes = all.flatMap(({ id, name }) => {
    const { note }: Preset = presets[id]
    return note === undefined ? [] : [`- **${name}**: ${note}`]
  })
  const lines = rows.map((row) => `| ${row.map(cell).join(' | ')} |`)
  return `${HEAD.replace('COUNT', String(all.length))}${lines.join('\n')}

## Notes

${notes.join('\n')}
`
}

const code = (text: string): string => `\`${text}\``

/** A bar would end the cell, also in code. */
const cell = (text: string): string => text.replaceAll('|', '\\|')

function secretOf({ secret, needs = [], mayNeed = [] }: Preset): string {
  const options = needs.map((need) => code(need)).join(', ')
  const others = mayNeed.map((need) => `${code(need)}?`).join(', ')
  const all = [secret ?? 'none: its keys are public', options, others]
  return all.filter((text) => text !== '').join('<br>')
}

function ageOf({ schemes }: Preset): string {
  const ages = schemes.flatMap((scheme) =>
    'timestamp' in scheme
      ? (scheme.timestamp?.toleranceSeconds ?? [])
      : 'toleranceSeconds' in scheme
        ? (scheme.toleranceSeconds ?? [])
        : [],
  )
  return ages.length === 0 ? '–' : `${Math.max(...ages)} s`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(DOCUMENT, providersDocument())
}
