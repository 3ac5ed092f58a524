import { OWN_EVENTS } from '../../../packages/core/src/events/own-events.ts'
import { code, interfacesIn, sourceOf, table, type Interface } from './declarations.ts'

/** Of keys: the payloads are made from the key's row, and what each has besides. */
const OF_KEYS: Record<string, string> = {
  'svc.key.created': 'a key was made, except by a rotation or an import',
  'svc.key.rotated': 'a key was rotated; `replacedBy`: the id of its successor',
  'svc.key.revoked': 'a key was revoked',
  'svc.key.expiring': 'a key expires within days of `expiryNoticeDays`; `daysLeft`: which',
  'svc.key.expired': 'a key has expired',
  'svc.key.unused': 'a key was not used for `unusedNoticeDays`; `unusedDays`: how many',
  'svc.key.leaked': 'GitHub found a key in public; `url`, `source`, `replacedBy`',
}
const KEY_PAYLOAD = ['keyId', 'userId', 'tenant', 'keyPrefix', 'label', 'expiresAt', 'lastUsedAt']

export function eventsPage(): string {
  const payloads = interfacesIn(
    sourceOf('packages/webhooks/src/outbound/lifecycle-events.ts').replaceAll(
      /^interface /gm,
      'export interface ',
    ),
  )
  const about = payloads.get('AboutWebhook')!
  const ofWebhooks = [...payloads.values()].flatMap((found) => {
    const [, name, when] = /^`(svc\.[\w.]+)`: (.*)$/.exec(found.text) ?? []
    return name === undefined ? [] : [{ name, when, found }]
  })
  const documented = new Set([...Object.keys(OF_KEYS), ...ofWebhooks.map(({ name }) => name)])
  const missing = OWN_EVENTS.filter((name) => !documented.has(name))
  if (missing.length > 0)
    throw new Error(`the page of events does not describe ${missing.join(', ')}`)
  return `# Events

These are the events that the packages publish themselves. A webhook or a handler gets those that it names: \`*\` means the events of the host alone. Their payloads never hold a secret. All times are ISO 8601.

## Keys

${table(
  ['event', 'when, and what it has besides'],
  Object.entries(OF_KEYS).map(([name, when]) => [code(name), when]),
)}
The payload is ${KEY_PAYLOAD.map(code).join(', ')}.

## Webhooks and deliveries

${ofWebhooks
  .map(
    ({ name, when, found }) => `### \`${name}\`\n\n${sentence(when!)}\n\n${fieldsOf(about, found)}`,
  )
  .join('\n')}
### \`lastError\`

${fieldsOf(payloads.get('LastError')!)}
## A test

A test of a webhook sends \`webhook.test\`. The delivery has the header \`X-Svc-Test: true\`. The event is not stored, and no list of events has it.
`
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`

const fieldsOf = (...parts: Interface[]): string =>
  table(
    ['field', 'type', 'meaning'],
    parts
      .flatMap(({ members }) => members)
      .map(({ name, type, text }) => [code(name), code(type), text]),
  )
