// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
/** Whatever is sent to the console is answered with an error of the caller's. */
import fc from 'fast-check'
import t from 'tap'
import { CALLS } from '../../packages/console/src/calls/calls.ts'
import type { CallName } from '../../packages/console/src/contract.ts'
import { fuzz, patiently } from '../fuzz/fuzz.ts'
import { startHost } from './support/host.ts'

const ID = '0190a1b2-0000-7000-8000-000000000000'
/** Fields that operations have, so that a random input is nearly right. */
const FIELDS = [
  ['id', 'webhookId', 'deliveryId', 'userId', 'keyId', 'after', 'eventId'],
  ['tenant', 'name', 'event', 'text', 'status', 'source', 'outcome', 'actor', 'target', 'action'],
  ['since', 'until', 'from', 'to', 'expiresAt', 'unusedSince'],
  ['limit', 'statusCode', 'overlapSeconds', 'filter', 'events', 'scopes', 'url', 'what', 'by'],
].flat()

const value = fc.oneof(
  fc.constantFrom(
    ID,
    '',
    '\0',
    'a\0b',
    '\ud800',
    'acme',
    '*',
    '__proto__',
    'infinity',
    '-infinity',
  ),
  fc.constantFrom('2030-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z'),
  fc.integer(),
  fc.double(),
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
)
const input = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(fc.constantFrom(...FIELDS), value, { maxKeys: 5 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
)

t.test('no input makes an operation fail with an internal error', async (t) => {
  const host = await startHost(t)
  const page = await host.signIn()
  const name = fc.constantFrom(...(Object.keys(CALLS) as CallName[]))
  await fuzz(
    t,
    fc.tuple(name, input),
    async ([call, given]) => {
      const { status, text } = await patiently(() => page.call(call, given))
      if (status >= 500) throw new Error(`${call}: ${status} ${text}`)
    },
    { share: 3, longestMs: Infinity },
  )
})

t.test('no cookie, link, path or body makes the console answer 500', async (t) => {
  const host = await startHost(t)
  const page = await host.signIn()
  const text = fc.oneof(fc.string({ maxLength: 60 }), fc.constantFrom('\\', '%00', '..%2f', '{'))
  const header = text.map((raw) => raw.replaceAll(/[^\x20-\x7e]/g, ''))
  await fuzz(
    t,
    fc.tuple(header, text, text),
    async ([cookie, path, body]) => {
      const visitor = host.visitor(`svc-console=${cookie}`)
      const escaped = encodeURIComponent(path.isWellFormed() ? path : '')
      const answers = [
        await patiently(() => visitor.session()),
        await patiently(() => page.call('webhooks.list', body === '' ? '{' : body)),
        await patiently(() => host.ask('GET', `/console/portal/${escaped}`)),
        await host.ask('GET', `/console/assets/${escaped}`),
        await host.ask('GET', `/console/${escaped}`, { headers: { 'accept-encoding': cookie } }),
        await patiently(() => page.call(escaped || 'x', {}, { origin: cookie })),
      ]
      for (const { status } of answers) if (status >= 500) throw new Error(String(status))
    },
    { share: 0.3, longestMs: Infinity },
  )
})
