import t from 'tap'
import { CacheLease } from '../../packages/auth/src/guard/keys/cache-lease.ts'
import { createCachedKey } from '../../packages/auth/src/guard/keys/key-cache.ts'
import { LastUsed } from '../../packages/auth/src/guard/keys/last-used.ts'
import { OutageLog } from '../../packages/auth/src/outage-log.ts'
import { until } from '../support/until.ts'

function makeLog() {
  const lines: string[] = []
  const log = {
    warn: (details: object, message: string) =>
      void lines.push(`warn: ${message} ${JSON.stringify(details)}`),
    info: (_details: object, message: string) => void lines.push(`info: ${message}`),
  }
  return { lines, log }
}

/** Postgres that is unavailable until the test says otherwise. */
function makePostgres() {
  const postgres = { isAvailable: false, asked: 0 }
  const ask = async () => {
    postgres.asked++
    if (!postgres.isAvailable) throw new Error('connect ECONNREFUSED')
  }
  return { postgres, ask }
}

t.test('an outage is logged when it begins and when it ends', (t) => {
  const { lines, log } = makeLog()
  const outage = new OutageLog(log, 'it fails', 'it works again')
  outage.succeeded()
  for (let i = 0; i < 3; i++) outage.failed(new Error('no'))
  for (let i = 0; i < 3; i++) outage.succeeded()
  outage.failed(new Error('no'))
  t.same(lines, [
    'warn: it fails {"reason":"no"}',
    'info: it works again',
    'warn: it fails {"reason":"no"}',
  ])
  t.end()
})

t.test('a lease that cannot be renewed is logged once', async (t) => {
  const { lines, log } = makeLog()
  const { postgres, ask } = makePostgres()
  const lease = new CacheLease({
    readKeyChanges: async () => {
      await ask()
      return { revision: 1, mark: null, changed: [] }
    },
    forget() {},
    refresh: async () => {},
    log,
  })
  lease.start()
  t.teardown(() => lease.stop())
  for (let polls = 1; polls <= 3; polls++) {
    lease.wake()
    await until(() => postgres.asked >= polls)
  }
  await until(() => lines.length > 0)
  postgres.isAvailable = true
  lease.wake()
  await until(() => lines.length > 1)
  t.match(lines, [
    /^warn: could not read key changes.*ECONNREFUSED/,
    /^info: reading key changes works again/,
  ])
  t.equal(lines.length, 2)
})

t.test('times of last use that cannot be written are logged once', async (t) => {
  const { lines, log } = makeLog()
  const { postgres, ask } = makePostgres()
  const write = async () => {
    await ask()
    return []
  }
  const lastUsed = new LastUsed(write, log)
  lastUsed.record(
    createCachedKey({ userId: 'u', scopes: [], bootstrap: false, keyId: 'k', tenant: null }),
  )
  await lastUsed.stop()
  await lastUsed.stop()
  t.match(lines, [/^warn: could not write when keys were last used/])
  postgres.isAvailable = true
  await lastUsed.stop()
  t.match(lines[1], /^info: writing when keys were last used works again/)
  t.equal(lines.length, 2)
})
