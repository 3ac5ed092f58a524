import { createHmac, randomBytes } from 'node:crypto'
import t from 'tap'
import type { SvcAuthOptions } from '@svc/auth'
import { CannotDecide } from '../../../../packages/auth/src/guard/auth-failure.ts'
import { ForeignKeys } from '../../../../packages/auth/src/guard/keys/foreign-keys.ts'
import { generateKey, hashOf } from '../../../../packages/auth/src/key-format.ts'
import { everyRow, textOf } from '../../../support/every-row.ts'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { logOf } from '../../support/log.ts'
import { startHost, statusOf, withMe, type Host } from '../../support/host.ts'

const hmac = (text: string) => createHmac('sha256', 'the pepper').update(text).digest('hex')
/** A text that no other system makes of a key twice. */
const foreignKey = () => `acme_${randomBytes(24).toString('base64url')}`

/** A host that knows the hash of the other system, and for which texts it was asked. */
function hashing(hash: (key: string) => string = hmac) {
  const asked: string[] = []
  const auth: SvcAuthOptions = {
    importedKeys: {
      hash(key) {
        asked.push(key)
        return hash(key)
      },
    },
  }
  return { auth, asked }
}

async function imported({ app, makeUser }: Host, ...hashes: string[]) {
  const { id: userId } = await makeUser()
  const entries = hashes.map((hash) => ({ userId, hash }))
  const result = await app.svc.auth.importApiKeys(entries)
  const [first] = await app.svc.auth.listApiKeys(userId)
  return { result, entries, id: first?.id ?? '' }
}

t.test(
  'a key of another hash opens routes here, and its SHA-256 is stored at its first use',
  async (t) => {
    const { auth, asked } = hashing()
    const database = await freshDatabase(t)
    const host = await startHost(t, { after: withMe, auth, database })
    const [key, unused] = [foreignKey(), foreignKey()]
    const { result, entries } = await imported(host, hmac(key), hmac(unused))
    t.same(result, { imported: 2, skipped: [] })
    t.equal(await statusOf(host, key), 200)
    t.equal(await statusOf(host, key), 200)
    t.same(asked, [key], 'it was asked for once')

    const other = hashing()
    const there = await startHost(t, { after: withMe, auth: other.auth, database })
    t.equal(await statusOf(there, key), 200)
    t.same(other.asked, [], 'another process finds it by its SHA-256')
    const text = textOf(await everyRow(database))
    t.ok(text.includes(hashOfText(key)))
    t.notOk(
      text.includes(hmac(key)),
      'no more of the other hash is kept than it takes to know it again',
    )

    const known = [0, 1].map((index) => ({ index, reason: 'known' }))
    t.same(await host.app.svc.auth.importApiKeys(entries), { imported: 0, skipped: known })
  },
)

const hashOfText = (key: string) => Buffer.from(hashOf(key), 'latin1').toString('hex')

t.test(
  'the hash is asked only for texts of other formats that no key has the SHA-256 of',
  async (t) => {
    const { auth, asked } = hashing()
    const host = await startHost(t, { after: withMe, auth })
    const { key: ours } = await host.makeKey()
    const bySha256 = foreignKey()
    const { id: userId } = await host.makeUser()
    await host.app.svc.auth.importApiKeys([{ userId, sha256: hashOfText(bySha256) }])
    const mistyped = ours.slice(0, -1) + (ours.endsWith('a') ? 'b' : 'a')
    for (const key of [ours, bySha256]) t.equal(await statusOf(host, key), 200)
    for (const key of [generateKey(), mistyped, `${foreignKey()} x`, 'x'.repeat(600)]) {
      t.equal(await statusOf(host, key), 401)
    }
    t.same(asked, [])
    t.equal(await statusOf(host, 'unknown'), 401)
    t.same(asked, ['unknown'])
  },
)

t.test(
  'where the hash throws, or is no text, the key is unknown, which the log says once a minute',
  async (t) => {
    const gives: Record<string, () => unknown> = {
      throws: () => {
        throw new Error('no pepper')
      },
      'throws-a-text': () => {
        // oxlint-disable-next-line typescript/only-throw-error, no-throw-literal -- the function is the host's
        throw 'no pepper either'
      },
      undefined: () => undefined,
      empty: () => '',
      buffer: () => Buffer.from('x'),
      promise: async () => 'x',
      rejects: async () => {
        throw new Error('late')
      },
    }
    const log = logOf()
    const { auth } = hashing((key) => gives[key]?.() as string)
    const host = await startHost(t, { after: withMe, auth, fastify: { logger: { stream: log } } })
    await imported(host, 'x')
    for (const key of Object.keys(gives)) t.equal(await statusOf(host, key), 401, key)
    const entries = log.entries('the option "importedKeys.hash" gave no hash of a key')
    t.match(entries, [{ level: 40, reason: 'no pepper' }])
    t.equal(entries.length, 1)
  },
)

t.test('what is changed before the first use holds from the first use on', async (t) => {
  const { auth } = hashing()
  const host = await startHost(t, { after: withMe, auth })
  const [revoked, disabled] = [foreignKey(), foreignKey()]
  const { id } = await imported(host, hmac(revoked))
  await host.app.svc.auth.revokeApiKey(id)
  t.equal(await statusOf(host, revoked), 401)

  const other = await imported(host, hmac(disabled))
  const enable = (enabled: boolean) => host.app.svc.auth.updateApiKey({ id: other.id, enabled })
  await enable(false)
  t.equal(await statusOf(host, disabled), 401)
  await enable(true)
  t.equal(await statusOf(host, disabled), 200, 'the refusal is not remembered')
  await host.app.svc.auth.revokeApiKey(other.id)
  t.equal(await statusOf(host, disabled), 401)
})

t.test(
  'a key in the middle of a change is valid as it was, and ends with the commit',
  async (t) => {
    const { auth } = hashing()
    const host = await startHost(t, { after: withMe, auth })
    const key = foreignKey()
    const { id } = await imported(host, hmac(key))
    await host.app.svc.transaction(async (db) => {
      await host.app.svc.auth.revokeApiKey(id, { db })
      t.equal(await statusOf(host, key), 200)
      t.equal(await statusOf(host, key), 200, 'nothing is remembered of it')
    })
    t.equal(await statusOf(host, key), 401)
  },
)

t.test('processes that see a key first at the same time all accept it', async (t) => {
  const database = await freshDatabase(t)
  const options = { after: withMe, database, auth: hashing().auth }
  const hosts = [await startHost(t, options), await startHost(t, options)]
  const keys = Array.from({ length: 50 }, foreignKey)
  await imported(hosts[0]!, ...keys.map(hmac))
  const statuses = await Promise.all(
    keys.flatMap((key) => hosts.map((host) => statusOf(host, key))),
  )
  t.same(new Set(statuses), new Set([200]))
  const { rows } = await hosts[0]!.app.svc.database.query(
    `select count(*)::int as count from svc."__svc.auth.api_keys" where key_hash is null`,
  )
  t.equal(rows[0].count, 0)
})

t.test('a first use beside an open import of the same key keeps no request waiting', async (t) => {
  for (const end of ['commit', 'rollback']) {
    const { auth } = hashing()
    const host = await startHost(t, { after: withMe, auth })
    const [key, other] = [foreignKey(), foreignKey()]
    const { entries } = await imported(host, hmac(key), hmac(other))
    const { userId } = entries[0]!
    const twice = host.app.svc.transaction(async (db) => {
      await host.app.svc.auth.importApiKeys([{ userId, sha256: hashOfText(key) }], { db })
      t.same(await Promise.all([key, other].map((one) => statusOf(host, one))), [200, 200])
      t.same(await Promise.all([other, key].map((one) => statusOf(host, one))), [200, 200])
      if (end === 'rollback') throw new Error('rolled back')
    })
    await (end === 'commit' ? twice : t.rejects(twice, { message: 'rolled back' }))
    t.same(await Promise.all([key, other].map((one) => statusOf(host, one))), [200, 200], end)
  }
})

t.test('of two texts with the same hash only the one that came first opens the key', async (t) => {
  const { auth } = hashing((key) => key.slice(0, 8))
  const host = await startHost(t, { after: withMe, auth })
  await imported(host, 'acme_abc', 'acme_xyz')
  t.equal(await statusOf(host, 'acme_abc-1'), 200)
  t.equal(await statusOf(host, 'acme_abc-2'), 401)
  const statuses = await Promise.all([1, 2].map((n) => statusOf(host, `acme_xyz-${n}`)))
  t.same(statuses.toSorted(), [200, 401])
})

t.test('a flood of texts that open no key keeps none waiting that does', async (t) => {
  const slow = (key: string) => {
    const until = performance.now() + 20
    while (performance.now() < until);
    return hmac(key)
  }
  const { auth, asked } = hashing(slow)
  const host = await startHost(t, { after: withMe, auth })
  const [used, key] = [foreignKey(), (await host.makeKey()).key]
  await imported(host, hmac(used))
  t.equal(await statusOf(host, used), 200)
  const flood = Array.from({ length: 500 }, () => statusOf(host, foreignKey()))
  t.same(await Promise.all([used, key, key].map((one) => statusOf(host, one))), [200, 200, 200])
  const statuses = await Promise.all(flood)
  t.same([...new Set(statuses)].toSorted(), [401, 503])
  t.ok(asked.length < 250, `${asked.length} were hashed`)
})

t.test('texts that open no key are hashed for a tenth of the time at most', async (t) => {
  let [now, hashed] = [1000, 0]
  const keys = new ForeignKeys({
    hash(text) {
      hashed++
      now += 30
      return text
    },
    db: {
      query: async (_text, [hashes, others] = []) => ({
        rows: (others as string[]).flatMap((foreignHex, n) =>
          foreignHex === hashOfText('valid')
            ? [
                {
                  hex: (hashes as string[])[n],
                  foreignHex,
                  isHashStored: true,
                  limits: null,
                  quota: null,
                },
              ]
            : [],
        ),
      }),
    },
    timeoutMs: 1000,
    log: { info() {}, warn() {} },
    now: () => now,
  })
  const find = (text: string) => keys.find(text, hashOf(text))
  for (let n = 0; n < 4; n++) t.equal(await find(`unknown ${n}`), undefined)
  await t.rejects(find('one more'), new CannotDecide('too many texts to hash'))
  t.equal(hashed, 4)
  now += 700
  for (let n = 0; n < 10; n++) t.ok(await find('valid'), 'a key that is there costs nothing of it')
  for (let n = 0; n < 3; n++) t.equal(await find(`unknown again ${n}`), undefined)
})
