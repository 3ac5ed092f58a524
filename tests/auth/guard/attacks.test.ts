// promise: No protected handler runs without a valid key, whatever the spelling of the path and the options of the router
import { readFileSync } from 'node:fs'
import t from 'tap'
import { insertApiKey, revokeApiKey } from '../../../packages/auth/src/tables/api-keys.ts'
import { hashOf, prefixOf } from '../../../packages/auth/src/key-format.ts'
import { uuidv7 } from '@svc/core/internal'
import { freshDatabase } from '../../support/fresh-database.ts'
import { attackedHost, type AttackedHost } from '../support/attacked-host.ts'
import { rawRequest } from '../support/raw-request.ts'

interface Attack {
  id: string
  method: string
  rawTarget: string
  httpVersion?: string
  headers?: [name: string, value: string | { repeat: string; times: number }][]
  body?: string
  routerOptions: string
  mustHappen: { status: number[]; protectedHandlerRuns: boolean }
  why?: string
}

interface Attacks {
  routerOptionSets: Record<string, object>
  testKeys: Record<'admin' | 'read' | 'manage' | 'expired' | 'revoked', string>
  cases: Attack[]
}

const file = new URL('../../data/guard-attacks.json', import.meta.url)
const attacks = JSON.parse(readFileSync(file, 'utf8')) as Attacks

for (const [name, routerOptions] of Object.entries(attacks.routerOptionSets)) {
  t.test(`no attack gets past the guard, router options: ${name}`, async (t) => {
    const host = await attackedHost(t, await freshDatabase(t), routerOptions)
    await storeTestKeys(host)

    const cases = attacks.cases.filter((one) => ['each', name].includes(one.routerOptions))
    for (const attack of cases) {
      host.ran.length = 0
      const { status } = await rawRequest(host.app, {
        ...attack,
        target: attack.rawTarget,
        headers: (attack.headers ?? []).map(([header, value]) => [
          header,
          typeof value === 'string' ? value : value.repeat.repeat(value.times),
        ]),
      })
      const { id, method, rawTarget, mustHappen, why = '' } = attack
      const about = `${id}: ${method} ${rawTarget} ${why}`
      t.ok(mustHappen.status.includes(status ?? 0), `${about} is answered ${status}`)
      t.equal(host.ran.length > 0, mustHappen.protectedHandlerRuns, `${about} ran ${host.ran}`)
    }
  })
}

const NO_FIELDS = {
  label: null,
  enabled: true,
  metadata: null,
  allowedIps: null,
  limits: null,
  quota: null,
}

/** Keys that we would not mint: the guard judges what is stored, whatever its shape. */
async function storeTestKeys({ app, userId }: AttackedHost): Promise<void> {
  const { admin, read, manage, expired, revoked } = attacks.testKeys
  const db = app.svc.database
  const store = async (key: string, scopes: string[], expiresAt: string | null = null) => {
    const id = uuidv7()
    const hash = hashOf(key)
    const keyPrefix = prefixOf(key)
    const fields = { ...NO_FIELDS, scopes, expiresAt }
    await insertApiKey(db, { id, userId, hash, keyPrefix, fields, bounds: null, replaces: null })
    return id
  }
  await store(admin, ['admin'])
  await store(read, ['read'])
  await store(manage, ['auth:manage'])
  await store(expired, ['admin'], new Date(0).toISOString())
  await revokeApiKey(db, await store(revoked, ['admin']))
}
