/** The page of the site that lists all providers, from the presets. */
import { providers } from '../packages/webhooks/src/inbound/providers.ts'
import type { Preset } from '../packages/providers/src/preset.ts'
import { presets } from '../packages/providers/src/presets/all.ts'

const HEAD = `# Providers

There are presets for COUNT senders. A preset verifies and deduplicates requests, and names their events. The page of each has what to set there and here, and what comes. [Your first source](../first-source.md) shows how to use one, [Without Fastify](../without-fastify.md) in other frameworks.

- **secret, options**: the value of the secret \`secretName\`, and the options that the preset requires; those with a question mark it may have.
- **checked**: what the preset was checked against. \`vector\` is a signed request that the provider has published, and is in \`tests/providers/vectors\`. \`sdk\` is the provider's own library: its source, or requests that it signed or accepted. \`documentation\` is the provider's own page. There are no presets that are based on third parties alone.
- **repeat**: the deduplication key, of signed values where the provider signs any, and of the type (\`{type}\`: what follows the first dot of the event's name); – if the provider sends nothing by which a repeat can be recognised.
- **events**: the name of the event. A name that is read from a header (\`{header:…}\`) is not signed, unless its page says so or the header is among those that are signed.
- **age**: how far the request's timestamp may be from now, which \`toleranceSeconds\` changes; – if the age is not checked.

| preset | verified by | secret, options | events | repeat | age | checked |
| ------ | ----------- | --------------- | ------ | ------ | --- | ------- |
`

export function providersDocument(): string {
  const all = providers.list()
  const rows = all.map(({ id, name, scheme, checked }) => {
    const preset: Preset = presets[id]
    return [
      `[${name}](${id}.md)<br>\`${id}\``,
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
  const lines = rows.map((row) => `| ${row.map(cell).join(' | ')} |`)
  return `${HEAD.replace('COUNT', String(all.length))}${lines.join('\n')}\n`
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
