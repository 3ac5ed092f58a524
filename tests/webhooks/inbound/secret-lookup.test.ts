import t from 'tap'
import { headerToken, type InboundSource, type Verify } from '@svc/webhooks'
import { hostOf, type Host } from './host.ts'

const source = (verify: Verify): InboundSource => ({ path: '/hooks/a', publishAs: 'a', verify })

const statusOf = async ({ app }: Host, token: string) =>
  (await app.inject({ method: 'POST', url: '/hooks/a', headers: { 'x-token': token }, body: 'x' }))
    .statusCode

const verifications: [what: string, verify: Verify][] = [
  ['compares it', (request, _body, secret) => request.headers['x-token'] === secret('TOKEN')],
  [
    'awaits it',
    // oxlint-disable-next-line typescript/await-thenable -- a function may have been written for a promise
    async (request, _body, secret) => request.headers['x-token'] === (await secret('TOKEN')),
  ],
  ['is a helper', headerToken({ header: 'x-token', secretName: 'TOKEN' })],
  [
    'wraps a helper',
    async (...given) => headerToken({ header: 'x-token', secretName: 'TOKEN' })(...given),
  ],
]

for (const [what, verify] of verifications) {
  t.test(`the secret of a function that ${what} counts from the first request on`, async (t) => {
    const host = await hostOf(t, { a: source(verify) }, { secrets: { TOKEN: 'old' } })
    t.equal(await statusOf(host, 'old'), 200)
    t.equal(await statusOf(host, 'new'), 401)
    // A rotated secret counts for the very next request, and the old one no more.
    host.secrets['TOKEN'] = 'new'
    t.equal(await statusOf(host, 'old'), 401)
    t.equal(await statusOf(host, 'new'), 200)
    host.secrets['TOKEN'] = null
    t.equal(await statusOf(host, 'new'), 500)
    host.secrets['TOKEN'] = 'newest'
    t.equal(await statusOf(host, 'newest'), 200)
  })

  t.test(`a forged first request of a function that ${what} is refused`, async (t) => {
    const host = await hostOf(t, { a: source(verify) }, { secrets: { TOKEN: 'right' } })
    for (const token of ['wrong', 'null', '', '[object Promise]']) {
      t.equal(await statusOf(host, token), 401, token)
    }
  })
}

t.test('a missing secret is a 500, also where the function swallows it', async (t) => {
  const verify: Verify = (_request, _body, secret) => {
    try {
      return secret('TOKEN') === null
    } catch {
      return true
    }
  }
  const host = await hostOf(t, { a: source(verify) }, { secrets: { TOKEN: '' } })
  t.equal(await statusOf(host, 'x'), 500)
  t.equal(await statusOf(host, 'x'), 500)
})

t.test('the log has the reason of the last call of verify', async (t) => {
  const token = headerToken({ header: 'x-token', secretName: 'TOKEN' })
  const verify: Verify = async (request, body, secret) => {
    if (await token(request, body, secret)) return true
    return secret('OTHER') === 'x'
  }
  const host = await hostOf(t, { a: source(verify) }, { secrets: { TOKEN: 'a', OTHER: 'b' } })
  t.equal(await statusOf(host, 'c'), 401)
  t.match(
    host.log.filter(({ msg }) => msg === 'inbound webhook refused'),
    [{ reason: 'the token does not match' }],
  )
})

t.test('respond gets the values of secrets as well', async (t) => {
  const host = await hostOf(
    t,
    {
      a: {
        ...source(() => false),
        respond: (request, _body, secret) =>
          request.query['token'] === secret('TOKEN') ? { body: 'hello' } : null,
      },
    },
    { secrets: { TOKEN: 'old' } },
  )
  const ask = async (token: string) => (await host.app.inject(`/hooks/a?token=${token}`)).statusCode
  t.equal(await ask('old'), 200)
  t.equal(await ask('new'), 404)
  host.secrets['TOKEN'] = 'new'
  t.equal(await ask('old'), 404)
  t.equal(await ask('new'), 200)
  host.secrets['TOKEN'] = null
  t.equal(await ask('new'), 500)
})
