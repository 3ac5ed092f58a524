// Texts that are presented as keys to a host that counts failed attempts.
import fc from 'fast-check'
import t from 'tap'
import { startHost } from '../auth/support/host.ts'
import { fuzz, patiently, spoilt, textOf } from './fuzz.ts'

const WHOLE_REQUEST = { share: 2, longestMs: Infinity }
const SENDABLE = /^[\x21-\x7e]*$/

t.test('with a lockout any text that is no key is refused, and never with a 5xx', async (t) => {
  const { app, ask, makeKey } = await startHost(t, {
    auth: { rateLimit: { maxAttempts: 3, windowMs: 60_000, blockDurationMs: 60_000 } },
    after: (app) => void app.get('/me', async () => 'me'),
  })
  const { key } = await makeKey()
  const { key: service } = await makeKey({ scopes: ['auth:verify'] })
  const text = fc.oneof(
    textOf('svc_', key, key.slice(0, 8), '\0', ' ', 'é', '\ud800', ''),
    spoilt(key),
    fc.string({ unit: 'binary', maxLength: 10 }),
  )
  const seen = { counted: 0, notCounted: 0 }
  const asked: typeof ask = (...args) => patiently(() => ask(...args))
  await fuzz(
    t,
    text.filter((one) => one !== key && !one.startsWith(service.slice(0, 8))),
    async (given) => {
      const verified = await asked('POST', '/_auth/verify', { key: service, body: { key: given } })
      const { valid, code } = verified.body
      if (verified.status !== 200 || valid !== false) {
        throw new Error(`${verified.status} ${JSON.stringify(verified.body)}`)
      }
      const mayBeKey = given.length <= 512 && given !== '' && SENDABLE.test(given)
      seen[mayBeKey ? 'counted' : 'notCounted']++
      if (!mayBeKey && code !== 'SVC_AUTH_INVALID_KEY') throw new Error(`counted: ${code}`)
      if (!SENDABLE.test(given)) return
      const { status } = await asked('GET', '/me', { key: given })
      if (status !== 401 && status !== 429) throw new Error(`the guard answers ${status}`)
    },
    WHOLE_REQUEST,
  )
  t.ok(seen.counted > 0 && seen.notCounted > 0, JSON.stringify(seen))
  const { rows } = await app.svc.database.query(
    'select prefix from svc."__svc.auth.failing_prefixes"',
  )
  t.same(
    rows.filter(({ prefix }) => !SENDABLE.test(prefix)),
    [],
  )
})
