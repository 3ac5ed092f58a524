// promise: An alert revokes the keys in it if GitHub has signed it, and has no effect otherwise
import { generateKeyPairSync, sign } from 'node:crypto'
import t from 'tap'
import { createGithubKeys } from '../../../packages/auth/src/operations/leaks.ts'
import { startHost, type Host } from '../support/host.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const key = String(publicKey.export({ type: 'spki', format: 'pem' }))
const auth = { githubLeaks: { keys: [{ key_identifier: 'current', key }] } }

const send = async (
  { app }: Host,
  payload: string,
  { identifier = 'current', signature = sign('sha256', Buffer.from(payload), privateKey) } = {},
) => {
  const answer = await app.inject({
    method: 'POST',
    url: '/_auth/leaks/github',
    headers: {
      'content-type': 'application/json',
      'github-public-key-identifier': identifier,
      'github-public-key-signature': signature.toString('base64'),
    },
    payload,
  })
  return { status: answer.statusCode, body: answer.json() }
}

t.test('a key in an alert of GitHub is revoked, and an event is published', async (t) => {
  const host = await startHost(t, { auth })
  const { app, makeKey } = host
  const leaked = await makeKey()
  const safe = await makeKey()
  const type = 'svc_api_key'
  const url = 'https://github.com/acme/shop/blob/main/.env'
  const alerts = [
    { token: leaked.key, type, url, source: 'content' },
    { token: 'svc_nothing', type, url: '' },
  ]
  const feedback = [
    { token_raw: leaked.key, token_type: type, label: 'true_positive' },
    { token_raw: 'svc_nothing', token_type: type, label: 'false_positive' },
  ]
  t.same(await send(host, JSON.stringify(alerts)), { status: 200, body: feedback })
  t.match(await app.svc.auth.validateApiKey(leaked.key), { valid: false })
  t.match(await app.svc.auth.validateApiKey(safe.key), { valid: true })
  t.same((await send(host, JSON.stringify(alerts))).body, feedback, 'it is a key still')

  const { rows } = await app.svc.database.query(
    `select name, payload from svc."__svc.events" where name like 'svc.key.%' order by name`,
  )
  const of = (name: string) => rows.filter((row: { name: string }) => row.name === name)
  t.equal(of('svc.key.revoked').length, 1)
  t.match(
    of('svc.key.leaked').map(({ payload }) => JSON.parse(payload)),
    [{ keyId: leaked.id, url, source: 'content' }],
  )
  t.notOk(JSON.stringify(rows).includes(leaked.key.slice(8, 20)))
  t.match(await app.svc.audit.list({ target: leaked.id, limit: 1 }), [
    { action: 'key.leak', actor: { kind: 'system' }, requestId: /^req-/ },
  ])
})

t.test('the event of a leaked key names its successor, which stays valid', async (t) => {
  const host = await startHost(t, { auth })
  const { app, makeKey, ask } = host
  const leaked = await makeKey()
  const rotated = await ask('POST', '/_auth/me/rotate', { key: leaked.key })
  const alerts = [{ token: leaked.key, type: 'svc_api_key', url: '', source: 'commit' }]
  t.match(await send(host, JSON.stringify(alerts)), { status: 200 })
  const { rows } = await app.svc.database.query(
    `select payload from svc."__svc.events" where name = 'svc.key.leaked'`,
  )
  t.equal(JSON.parse(rows[0].payload).replacedBy, rotated.body.id)
  t.match(await app.svc.auth.validateApiKey(rotated.body.key), { valid: true })
})

t.test('a key is revoked wherever it was found, also where that cannot be stored', async (t) => {
  const host = await startHost(t, { auth })
  const { app, makeKey } = host
  const places = [
    { url: 'a\0b\ud800', source: 'c\0' },
    { url: '', source: null },
    { url: 'x'.repeat(5000), source: { in: 1 } },
  ]
  for (const place of places) {
    const { key, id } = await makeKey()
    const alert = JSON.stringify([{ token: key, type: 'svc_api_key', ...place }])
    t.match(await send(host, alert), { status: 200, body: [{ label: 'true_positive' }] })
    t.match(await app.svc.auth.validateApiKey(key), { valid: false })
    const [entry] = await app.svc.audit.list({ target: id, limit: 1 })
    t.match(entry, { action: 'key.leak', changes: { revoked: { to: true } } })
  }
})

t.test("GitHub's keys are fetched where a request names one that is not known", async (t) => {
  const state = { now: 0, asked: 0, keys: ['a'], isAway: true }
  const fetchKeys = async () => {
    state.asked++
    await new Promise((resolve) => setImmediate(resolve))
    if (state.isAway) throw new Error('GitHub is away')
    return state.keys.map((key_identifier) => ({ key_identifier, key }))
  }
  const keysFor = createGithubKeys(undefined, fetchKeys, () => state.now)
  const named = async (name: string) =>
    (await keysFor(name)).map(({ key_identifier }) => key_identifier)
  const unavailable = { code: 'SVC_AUTH_UNAVAILABLE' }
  await Promise.all([t.rejects(keysFor('a'), unavailable), t.rejects(keysFor('a'), unavailable)])
  await t.rejects(keysFor('a'), unavailable, 'a 401 would tell GitHub that it has signed wrongly')
  t.equal(state.asked, 1)

  state.now += 60_000
  state.isAway = false
  t.same(await Promise.all([named('a'), named('a')]), [['a'], ['a']], 'both wait for the answer')
  t.equal(state.asked, 2)
  state.keys = ['b']
  t.same(await named('b'), ['a'], 'nobody makes it ask all the time')
  state.now += 60_000
  t.same(await named('b'), ['b'])
  state.now += 60_000
  state.isAway = true
  t.same(await named('c'), ['b'], 'those that were listed before stay')
  t.equal(state.asked, 4)
})

t.test('an alert that is malformed, or not signed by GitHub, is refused', async (t) => {
  const host = await startHost(t, { auth })
  const { app, makeKey } = host
  const { key } = await makeKey()
  const alert = JSON.stringify([{ token: key, type: 'x', url: 'y' }])
  const unsigned = { status: 401, body: { code: 'SVC_AUTH_INVALID_ALERT_SIGNATURE' } }
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  t.match(
    await send(host, alert, { signature: sign('sha256', Buffer.from(alert), other) }),
    unsigned,
  )
  t.match(await send(host, alert, { signature: Buffer.from('nonsense') }), unsigned)
  t.match(await send(host, alert, { identifier: 'another' }), unsigned)
  const moved = { signature: sign('sha256', Buffer.from(alert), privateKey) }
  t.match(await send(host, ` ${alert}`, moved), unsigned)
  const headers = { 'content-type': 'application/json' }
  const url = '/_auth/leaks/github'
  const bare = await app.inject({ method: 'POST', url, headers, payload: alert })
  t.equal(bare.statusCode, 401)
  t.equal(bare.headers['www-authenticate'], 'Bearer')
  for (const none of ['{}', 'nonsense', '[1]', '[{"token":1,"type":"x","url":"y"}]']) {
    t.match(await send(host, none), { status: 400, body: { code: 'SVC_AUTH_INVALID_ALERT' } })
  }
  t.match(await app.svc.auth.validateApiKey(key), { valid: true })
})

t.test(
  'without githubLeaks there is no route for alerts, and its keys must be public keys',
  async (t) => {
    const host = await startHost(t)
    const answer = await host.app.inject({ method: 'POST', url: '/_auth/leaks/github' })
    t.equal(answer.statusCode, 401, 'as every path of the management API without a key')
    for (const githubLeaks of [
      { keys: [] },
      { keys: [{ key_identifier: 'x', key: 'y' }] },
      { key },
    ]) {
      await t.rejects(startHost(t, { auth: { githubLeaks } }), {
        code: 'SVC_CORE_INVALID_OPTION',
        message: /githubLeaks/,
      })
    }
  },
)
