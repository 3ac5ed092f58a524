import { advance } from '@svc/testing'
import t from 'tap'
import { BootstrapKey } from '../../../../packages/auth/src/guard/keys/bootstrap-key.ts'
import { BOOTSTRAP_KEY, startHost, withMe } from '../../support/host.ts'
import { logOf } from '../../support/log.ts'

t.test('the bootstrap key is an admin without a user', async (t) => {
  const { ask } = await startHost(t, { after: withMe })
  t.same((await ask('GET', '/me')).body, {
    userId: null,
    scopes: ['admin'],
    bootstrap: true,
    tenant: null,
    keyId: null,
  })
  t.equal((await ask('GET', '/me', { key: `${BOOTSTRAP_KEY}x` })).status, 401)
  t.equal((await ask('GET', '/me', { key: BOOTSTRAP_KEY.toUpperCase() })).status, 401)
})

/** The bootstrap key alone: what was said of its secret, and how often remembered keys were forgotten. */
function keyOf(get: () => Promise<string | null>) {
  const said: string[] = []
  const forgotten: number[] = []
  const key = new BootstrapKey({
    secrets: { get },
    name: 'BOOTSTRAP_KEY',
    log: {
      warn: (details: object, text: string) => said.push(text + JSON.stringify(details)),
    } as never,
    forget: (hashes) => void forgotten.push(hashes.length),
  })
  return { key, said, forgotten }
}

t.test('without a usable secret the bootstrap key is off, and the log says why', async (t) => {
  const rows: [secret: string | null, reason: RegExp][] = [
    [null, /is not set/],
    ['fifteen letters', /shorter than 16/],
    ['with a line break\n', /no header can carry/],
    ['x'.repeat(513), /longer than 512 characters/],
  ]
  for (const [secret, reason] of rows) {
    const { key, said } = keyOf(async () => secret)
    await key.read()
    t.match(said, [reason])
    const text = secret?.trim()
    if (text) t.notMatch(said[0], text)
    t.equal(key.matches(text || 'x'), false)
  }
  for (const secret of ['', Buffer.from('sixteen characters at least')] as const) {
    const log = logOf()
    const { ask } = await startHost(t, {
      after: withMe,
      core: { secrets: () => secret as never },
      fastify: { logger: { level: 'warn', stream: log } },
    })
    t.match(log.text(), secret === '' ? /is not set/ : /is not a string/)
    t.equal((await ask('GET', '/me', { key: 'x' })).status, 401)
  }
})

t.test(
  'while the secret store is unavailable known keys pass and the bootstrap key does not',
  async (t) => {
    const log = logOf()
    let isAway = true
    const { ask, makeKey } = await startHost(t, {
      after: withMe,
      core: {
        secrets() {
          if (isAway) throw new Error('the vault is sealed')
          return BOOTSTRAP_KEY
        },
      },
      fastify: { logger: { level: 'warn', stream: log } },
    })
    t.match(log.text(), /the vault is sealed/)
    const { key } = await makeKey()

    t.equal((await ask('GET', '/me', { key })).status, 200)
    t.match(await ask('GET', '/me'), { status: 503, headers: { 'retry-after': '1' } })
    t.equal((await ask('GET', '/me', { key: 'no-such-key' })).status, 503, 'it might be the one')

    isAway = false
    await t.resolves(
      (async () => {
        while ((await ask('GET', '/me')).status !== 200);
      })(),
    )
    t.equal((await ask('GET', '/me', { key: 'no-such-key' })).status, 401)
  },
)

t.test(
  'a rotated bootstrap secret is accepted without a restart, and the old one is refused',
  async (t) => {
    let secret = BOOTSTRAP_KEY
    const { app, ask } = await startHost(t, { after: withMe, core: { secrets: () => secret } })
    const next = 'the-next-bootstrap-key'
    const status = async (key: string) => (await ask('GET', '/me', { key })).status
    t.equal(await status(BOOTSTRAP_KEY), 200)
    t.equal(await status(next), 401)

    secret = next
    await advance(app, 5)
    t.equal(await status(next), 200)
    t.equal(await status(BOOTSTRAP_KEY), 401)
  },
)

t.test('a secret store that rejects with no error counts as unavailable', async (t) => {
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what a host may do
  const { key, said } = keyOf(() => Promise.reject(undefined))
  await t.resolves(key.read())
  t.match(said, [/could not read the secret.*no reason given/])
  t.equal(key.matches(BOOTSTRAP_KEY), undefined)
})

t.test('a bootstrap secret that was read holds until another reading succeeds', async (t) => {
  let secret: string | null | Error = BOOTSTRAP_KEY
  const {
    key: bootstrapKey,
    said,
    forgotten,
  } = keyOf(async () => {
    if (secret instanceof Error) throw secret
    return secret
  })
  t.equal(bootstrapKey.matches(BOOTSTRAP_KEY), undefined, 'nobody knows yet')
  await bootstrapKey.read()
  t.equal(bootstrapKey.matches(BOOTSTRAP_KEY), true)

  secret = new Error('the vault is sealed')
  await bootstrapKey.read()
  await bootstrapKey.read()
  t.equal(bootstrapKey.matches(BOOTSTRAP_KEY), true, 'while nothing else is known')
  t.match(said, [
    /^could not read the secret of the bootstrap key again; the last value stays valid/,
  ])
  t.equal(said.length, 1, 'once')

  secret = null
  await bootstrapKey.read()
  t.equal(bootstrapKey.matches(BOOTSTRAP_KEY), false)
  t.match(said.at(-1), /^the bootstrap key is off: its secret cannot be used.*is not set/)
  t.same(forgotten, [1, 1], 'what was remembered of its key, at each change')
})
