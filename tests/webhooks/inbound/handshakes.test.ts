import t from 'tap'
import { providers } from '@svc/webhooks/providers'
import { hostOf } from './host.ts'
import { sign } from './received.ts'

t.test('a GET whose secret is not set is a 500, whatever respond returns', async (t) => {
  const { app, log } = await hostOf(t, {
    meta: providers.meta({
      path: '/hooks/meta',
      secretName: 'META_APP_SECRET',
      verifyTokenSecretName: 'META_VERIFY_TOKEN',
    }),
  })
  const answer = await app.inject(
    '/hooks/meta?hub.mode=subscribe&hub.verify_token=&hub.challenge=x',
  )
  t.equal(answer.statusCode, 500)
  t.match(
    log.find(({ source }) => source === 'meta'),
    {
      reason: 'the secret META_VERIFY_TOKEN is not set or empty',
    },
  )
})

t.test('Dropbox’s challenge is echoed, its notifications are verified and published', async (t) => {
  const { app } = await hostOf(
    t,
    { dropbox: providers.dropbox({ path: '/hooks/dropbox', secretName: 'DROPBOX_APP_SECRET' }) },
    { secrets: { DROPBOX_APP_SECRET: 'k' } },
  )
  t.equal((await app.inject('/hooks/dropbox?challenge=abc')).body, 'abc')
  const body = '{"list_folder":{}}'
  const headers = { 'x-dropbox-signature': sign(body, 'k').toString('hex') }
  const answer = await app.inject({ method: 'POST', url: '/hooks/dropbox', headers, body })
  t.equal(answer.json().status, 'accepted')
})

t.test('without respond a GET has no route', async (t) => {
  const { app } = await hostOf(t, { a: { path: '/hooks/a', publishAs: 'a', verify: () => true } })
  t.match((await app.inject('/hooks/a')).json(), { message: 'Route GET:/hooks/a not found' })
})

t.test('an answer has the status, the headers and the body that respond gives it', async (t) => {
  const replies = [
    { statusCode: 202, headers: { 'x-hook-secret': 's' } },
    { headers: { 'content-type': 'text/csv' }, body: 'a,b' },
    { body: ['json'] },
    { body: null },
  ]
  const { app } = await hostOf(t, {
    a: {
      path: '/hooks/a',
      publishAs: 'a',
      verify: () => true,
      respond: () => replies.shift() ?? null,
    },
  })
  const post = () => app.inject({ method: 'POST', url: '/hooks/a', body: {} })
  const empty = await post()
  t.strictSame([empty.statusCode, empty.headers['x-hook-secret'], empty.body], [202, 's', ''])
  const csv = await post()
  t.strictSame([csv.headers['content-type'], csv.body], ['text/csv', 'a,b'])
  t.strictSame((await post()).json(), ['json'])
  t.equal((await post()).json(), null)
  t.equal((await post()).json().status, 'accepted')
})

t.test('an invalid result of respond is logged, and not sent as an empty reply', async (t) => {
  const replies: unknown[] = ['challenge', { challenge: 'x' }, 5, undefined]
  const { app, log } = await hostOf(t, {
    a: {
      path: '/hooks/a',
      publishAs: 'a',
      verify: () => true,
      respond: () => replies.shift() as never,
    },
  })
  const post = () => app.inject({ method: 'POST', url: '/hooks/a', body: 'x' })
  for (const _reply of ['a string', 'other fields', 'a number']) {
    t.equal((await post()).statusCode, 500)
  }
  t.match(
    log.find(({ source }) => source === 'a'),
    { reason: /respond must return/ },
  )
  t.equal((await post()).json().status, 'accepted', 'nothing at all is no answer')
})

t.test('a reply that cannot be sent is a 500 of ours, logged with the field', async (t) => {
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  const wrong: [reply: unknown, field: string][] = [
    [{ statusCode: 700 }, 'statusCode'],
    [{ statusCode: 101 }, 'statusCode'],
    [{ statusCode: 'abc' }, 'statusCode'],
    [{ headers: { 'x y': 'a' } }, 'headers'],
    [{ headers: { x: 'a\r\nset-cookie: b' } }, 'headers'],
    [{ body: 1n }, 'body'],
    [{ body: cyclic }, 'body'],
  ]
  const replies = wrong.map(([reply]) => reply)
  const { app, log } = await hostOf(t, {
    a: {
      path: '/hooks/a',
      publishAs: 'a',
      verify: () => true,
      respond: () => replies.shift() as never,
    },
  })
  for (const [, field] of wrong) {
    const answer = await app.inject({ method: 'POST', url: '/hooks/a', body: 'x' })
    t.match(answer.json(), { statusCode: 500, code: 'SVC_WEBHOOKS_INBOUND_FAILED' })
    const { reason } = log.findLast(({ source }) => source === 'a') ?? {}
    t.match(reason, new RegExp(`^respond must return .* its ${field} must be`))
    t.notMatch(reason, /set-cookie/)
  }
})
