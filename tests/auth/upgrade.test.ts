import { readFile } from 'node:fs/promises'
import pg from 'pg'
import t from 'tap'
import { generateKey, hashOf, hexOf } from '../../packages/auth/src/key-format.ts'
import { emptyDatabase } from '../support/fresh-database.ts'
import { startHost } from './support/host.ts'

const SQL = new URL('../../packages/auth/sql/', import.meta.url)

t.test('users and keys of a version without tenants stay as they are', async (t) => {
  const database = await emptyDatabase(t)
  const client = new pg.Client(database)
  await client.connect()
  t.teardown(() => client.end())
  await client.query('create schema svc')
  await client.query(`create table svc."__svc.migrations" (
    owner text not null, name text not null, applied_at timestamptz not null default now(),
    primary key (owner, name))`)
  for (const name of ['001-auth.sql', '002-changes.sql']) {
    await client.query(await readFile(new URL(name, SQL), 'utf8'))
    await client.query(`insert into svc."__svc.migrations" values ('@svc/auth', $1)`, [name])
  }
  const id = '0190a1b2-0000-7000-8000-000000000001'
  const key = generateKey()
  await client.query(
    `insert into svc."__svc.auth.users" (id, email, name, role) values ($1, 'a@b.co', 'A', 'user')`,
    [id],
  )
  await client.query(
    `insert into svc."__svc.auth.api_keys" (id, user_id, key_hash, key_prefix, label, scopes)
     values ($1, $1, $2, $3, 'CI', '{read}')`,
    [id, hexOf(hashOf(key)), key.slice(0, 8)],
  )
  const { rows: before } = await client.query(
    `select xmin::text, ctid::text from svc."__svc.auth.api_keys"`,
  )

  const { app, ask } = await startHost(t, {
    database,
    after: (app) => void app.get('/me', async (request) => request.auth),
  })

  const { rows: after } = await client.query(
    `select xmin::text, ctid::text from svc."__svc.auth.api_keys"`,
  )
  t.same(after, before, 'no row was written anew')
  t.match((await ask('GET', '/me', { key })).body, { userId: id, keyId: id, tenant: null })
  t.match(await app.svc.auth.getUser(id), { email: 'a@b.co', tenant: null })
  t.match(await app.svc.auth.getApiKey(id), {
    label: 'CI',
    scopes: ['read'],
    tenant: null,
    enabled: true,
    metadata: null,
    allowedIps: null,
    replaces: null,
    replacedBy: null,
  })
  await t.rejects(app.svc.auth.createUser({ email: 'A@b.co', name: 'B' }), {
    code: 'SVC_AUTH_EMAIL_TAKEN',
  })
})
