import t from 'tap'
import { startHost } from '../support/host.ts'

const url = 'https://receiver.example/hook'
const events = ['order.created']

const settings = {
  description: 'Orders of Acme',
  metadata: { team: 'billing', 'a b': '' },
  filter: { payload: { total: { $gte: 100 } }, $not: { 'payload.test': true } },
  headers: { Authorization: 'Bearer secret', 'X-Api-Key': 'k' },
  timeoutMs: 5000,
  retry: { maxAttempts: 4, delaysSeconds: [1, 5.5, 30] },
  rateLimit: { limit: 10, perSeconds: 60 },
  maxInFlight: 3,
  ordered: true,
  transform: 'slack',
}
const none = Object.fromEntries(
  Object.keys(settings).map((name) => [name, name === 'ordered' ? false : null]),
)
const health = {
  disabledAt: null,
  disabledReason: null,
  failingSince: null,
  lastSuccessAt: null,
  lastFailureAt: null,
}
const masked = { ...settings, headers: { Authorization: '***', 'X-Api-Key': '***' } }

t.test('settings are stored, shown, changed one by one, and reset by null', async (t) => {
  const { ask } = await startHost(t)
  const made = await ask('POST', '', { url, events, ...settings })
  t.match(made, { status: 201, body: { ...settings, ...health } })
  const path = `/${made.body.id}`

  t.same((await ask('GET', path)).body, made.body, 'whole by id')
  t.match((await ask('GET', '')).body, [{ ...masked, ...health }], 'masked in a list')
  const { body: rotated } = await ask('POST', `${path}/rotate-secret`)
  t.match(rotated.headers, masked.headers, 'masked where the secret is rotated')

  const patched = await ask('PATCH', path, { description: 'Other', timeoutMs: null })
  t.match(patched, { status: 200, body: { ...masked, description: 'Other', timeoutMs: null } })
  const { body: kept } = await ask('GET', path)
  t.match(kept, { ...settings, description: 'Other', timeoutMs: null })

  const nulls = Object.fromEntries(Object.keys(settings).map((name) => [name, null]))
  t.match(await ask('PATCH', path, nulls), { status: 200, body: none })
  t.match((await ask('GET', path)).body, { ...none, ...health, url, events, active: true })
  t.match(await ask('POST', '', { url, events, ...nulls }), { status: 201, body: none })
})

t.test('the audit names settings that changed, and shows no value of a header', async (t) => {
  const { ask, app } = await startHost(t)
  const { body } = await ask('POST', '', { url, events, ...settings })
  await ask('PATCH', `/${body.id}`, { headers: { 'X-New': 'hidden' }, timeoutMs: 7000 })
  const entries = await app.svc.audit.list({ target: body.id })
  t.match(entries[0]!.changes, {
    headers: { from: '***', to: '***' },
    timeoutMs: { from: 5000, to: 7000 },
  })
  for (const secret of ['Bearer', 'hidden']) t.notMatch(JSON.stringify(entries), secret)
})

t.test('a webhook without settings shows them as not set', async (t) => {
  const { ask, app } = await startHost(t)
  const { body } = await ask('POST', '', { url, events })
  t.match(body, { ...none, ...health })
  t.match(await app.svc.webhooks.get(body.id), { ...none, ...health })
})

t.test('the operations refuse what the routes refuse, with the reason', async (t) => {
  const { ask, app } = await startHost(t)
  const { body: webhook } = await ask('POST', '', { url, events })
  const refused: [object, RegExp][] = [
    [{ filter: { payload: { a: { $regex: 'x' } } } }, /filter\.payload\.a\.\$regex/],
    [{ filter: [] }, /filter/],
    [{ filter: 'event' }, /filter/],
    [{ headers: { host: 'x' } }, /host/],
    [{ headers: { 'X-Svc-Event': 'x' } }, /X-Svc-Event/],
    [{ headers: { 'content-type': 'text/xml' } }, /content-type.*transform/],
    [{ headers: { a: 5 } }, /headers/],
    [{ headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x${i}`, ''])) }, /20/],
    [{ metadata: { a: 5 } }, /metadata/],
    [{ metadata: { a: { b: 'c' } } }, /metadata/],
    [{ metadata: { a: '\ud800' } }, /metadata "a"/],
    [{ metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`x${i}`, ''])) }, /50/],
    [{ description: 'x'.repeat(1001) }, /description/],
    [{ description: 'a\0b' }, /description/],
    [{ timeoutMs: 10_001 }, /timeoutMs may be at most 10000/],
    [{ timeoutMs: 0 }, /timeoutMs/],
    [{ retry: { maxAttempts: 31 } }, /maxAttempts/],
    [{ retry: { delaysSeconds: [604_801] } }, /delaysSeconds/],
    [{ retry: { delaysSeconds: [-1] } }, /delaysSeconds/],
    [{ retry: { delaysSeconds: Array.from({ length: 30 }, () => 1) } }, /delaysSeconds/],
    [{ retry: { attempts: 3 } }, /attempts/],
    [{ rateLimit: { limit: 1 } }, /perSeconds/],
    [{ rateLimit: { limit: 0, perSeconds: 1 } }, /limit/],
    [{ maxInFlight: 0 }, /maxInFlight/],
    [{ ordered: 'yes' }, /ordered/],
    [{ transform: 'other' }, /no transform "other": use one of slack, .*, payload, none/],
    [{ disabledAt: null }, /disabledAt/],
    [{ waiting: 0 }, /waiting/],
  ]
  for (const [given, message] of refused) {
    const title = JSON.stringify(given).slice(0, 80)
    t.match(
      await ask('POST', '', { url, events, ...given }),
      { status: 400, body: { message } },
      title,
    )
    t.match(await ask('PATCH', `/${webhook.id}`, given), { status: 400, body: { message } }, title)
    await t.rejects(app.svc.webhooks.update({ id: webhook.id, ...given }), { message })
  }
  t.match((await ask('GET', `/${webhook.id}`)).body, none, 'nothing of it was stored')
})

t.test('a webhook can have a content type only together with a transform', async (t) => {
  const { ask } = await startHost(t)
  const headers = { 'Content-Type': 'text/xml' }
  const made = await ask('POST', '', { url, events, headers, transform: 'slack' })
  t.equal(made.status, 201)
  const path = `/${made.body.id}`
  t.match(await ask('PATCH', path, { transform: null }), { status: 400 })
  t.match(await ask('PATCH', path, { transform: 'teams' }), { status: 200 })
  t.match(await ask('PATCH', path, { transform: null, headers: null }), { status: 200 })
  t.match(await ask('PATCH', path, { headers }), { status: 400 })
})
