import t from 'tap'
import { emptyDatabaseWith } from '../../support/fresh-database.ts'
import { startHost } from '../support/host.ts'
import { watchStatements } from '../support/statements.ts'

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000'

t.test('a user is created, listed and deleted', async (t) => {
  const { ask } = await startHost(t)

  const created = await ask('POST', '/_auth/users', {
    body: { email: 'Ada@example.com', name: 'Ada' },
  })
  t.equal(created.status, 201)
  const { id, createdAt, ...rest } = created.body
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/)
  t.match(createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  t.same(rest, { email: 'Ada@example.com', name: 'Ada', role: 'user', tenant: null })

  const boss = { email: 'b@example.com', name: 'B', role: 'boss' }
  t.match((await ask('POST', '/_auth/users', { body: boss })).body, boss)
  const listed = await ask('GET', '/_auth/users')
  t.equal(listed.status, 200)
  t.match(listed.body, [boss, created.body])

  const deleted = await ask('DELETE', `/_auth/users/${id}`)
  t.equal(deleted.status, 204)
  t.equal(deleted.body, undefined)
  t.match(await ask('DELETE', `/_auth/users/${id}`), {
    status: 404,
    body: { statusCode: 404, code: 'SVC_AUTH_USER_NOT_FOUND', error: 'Not Found', message: String },
  })
})

t.test('an email belongs to one user, in whatever case, until that one is deleted', async (t) => {
  const { ask } = await startHost(t)
  const first = await ask('POST', '/_auth/users', { body: { email: 'a@b.co', name: 'A' } })

  const again = { body: { email: 'A@B.CO', name: 'Other' } }
  t.match(await ask('POST', '/_auth/users', again), {
    status: 409,
    body: { statusCode: 409, code: 'SVC_AUTH_EMAIL_TAKEN', error: 'Conflict' },
  })
  await ask('DELETE', `/_auth/users/${first.body.id}`)
  t.equal((await ask('POST', '/_auth/users', again)).status, 201)
})

t.test('of many users created with one email at once, one is created', async (t) => {
  const { ask } = await startHost(t)
  const body = { email: 'a@b.co', name: 'A' }
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => ask('POST', '/_auth/users', { body })),
  )
  t.same(answers.map(({ status }) => status).toSorted(), [
    201,
    ...Array.from({ length: 7 }, () => 409),
  ])
})

t.test('creating a user with wrong values is a 400 with the reason', async (t) => {
  const { ask } = await startHost(t)
  const right = { email: 'a@b.co', name: 'A' }
  const cases: [body: object, message: RegExp][] = [
    [{}, /required property 'email'/],
    [{ email: 'a@b.co' }, /required property 'name'/],
    [{ ...right, email: 'nobody' }, /email/],
    [{ ...right, email: 5 }, /email must be string/],
    [{ ...right, name: 5 }, /name must be string/],
    [{ ...right, name: '' }, /name/],
    [{ ...right, name: 'a\0b' }, /name/],
    [{ ...right, role: null }, /role/],
    [{ ...right, admin: true }, /admin/],
    [[], /object/],
  ]
  for (const [body, message] of cases) {
    t.match(await ask('POST', '/_auth/users', { body }), {
      status: 400,
      body: { statusCode: 400, code: 'SVC_INVALID_INPUT', error: 'Bad Request', message },
    })
  }
  t.equal((await ask('POST', '/_auth/users')).status, 400, 'no body')
  t.same((await ask('GET', '/_auth/users')).body, [])
})

t.test('an id that is not a UUID is a 404 without a query', async (t) => {
  const { app, ask } = await startHost(t)
  await ask('GET', '/_auth/users')
  const { texts } = watchStatements(app)
  const asked = () => texts.filter((text) => /users|api_keys/.test(text))
  for (const id of [
    'x',
    'constructor',
    '%20',
    '%00',
    `${UNKNOWN}0`,
    `urn:uuid:${UNKNOWN}`,
    "'",
    '',
  ]) {
    for (const path of [`users/${id}`, `keys/${id}`]) {
      t.equal((await ask('DELETE', `/_auth/${path}`)).status, 404, path)
    }
    t.equal((await ask('GET', `/_auth/users/${id || 'x'}/keys`)).status, 404, id)
    t.equal((await ask('POST', `/_auth/users/${id || 'x'}/keys`)).status, 404, id)
  }
  t.same(asked(), [])
  t.equal((await ask('DELETE', `/_auth/users/${UNKNOWN}`)).status, 404)
  t.not(asked().length, 0, 'a UUID is looked for')
})

const tooLong = [101, 1000, 5000].flatMap((length) => [
  'a'.repeat(length),
  '%61'.repeat(length),
  'a%2F'.repeat(length / 2),
])

t.test('an id that is too long for the router is a 404, behind the guard', async (t) => {
  const { ask, makeKey } = await startHost(t)
  const { key } = await makeKey({ scopes: ['read', 'write'] })
  for (const id of tooLong) {
    const routes: [method: string, path: string, code: string][] = [
      ['DELETE', `/_auth/users/${id}`, 'SVC_AUTH_USER_NOT_FOUND'],
      ['GET', `/_auth/users/${id}/keys`, 'SVC_AUTH_USER_NOT_FOUND'],
      ['POST', `/_auth/users/${id}/keys`, 'SVC_AUTH_USER_NOT_FOUND'],
      ['DELETE', `/_auth/keys/${id}`, 'SVC_AUTH_KEY_NOT_FOUND'],
    ]
    for (const [method, path, code] of routes) {
      const what = `${method} ${path.slice(0, 60)} of ${path.length}`
      t.match(await ask(method, path), { status: 404, body: { statusCode: 404, code } }, what)
      t.equal((await ask(method, path, { key: null })).status, 401, what)
      t.equal((await ask(method, path, { key })).status, 403, what)
    }
    t.equal((await ask('HEAD', `/_auth/users/${id}/keys`)).status, 404)
  }
})

t.test('a path beside the routes that take an id is the host’s own 404', async (t) => {
  const { ask } = await startHost(t, {
    after: (app) => {
      app.setNotFoundHandler((_request, reply) => reply.code(404).send('of the host'))
    },
  })
  for (const path of ['/_auth/users/x/unknown', '/_auth/users/', '/_auth/keys/x/y']) {
    t.match(await ask('DELETE', path, { body: {} }), { status: 404 }, path)
    t.match(await ask('GET', `${path}/z`), { status: 404, body: 'of the host' }, path)
  }
})

t.test(
  'without a management base path there is no API, and nothing to protect there',
  async (t) => {
    const { ask } = await startHost(t, {
      auth: { managementBasePath: null, protectedPaths: ['/api'] },
    })
    t.match(await ask('GET', '/_auth/users', { key: null }), { status: 404 })
  },
)

t.test('the management API has the path of the option managementBasePath', async (t) => {
  const { ask } = await startHost(t, {
    auth: { managementBasePath: '/ops/keys', protectedPaths: ['/api'] },
  })
  t.equal((await ask('GET', '/ops/keys/users')).status, 200)
  t.equal((await ask('GET', '/ops/keys/users', { key: null })).status, 401)
  t.equal((await ask('GET', '/ops/keys/nothing', { key: null })).status, 401)
  t.equal((await ask('GET', '/_auth/users', { key: null })).status, 404)
})

t.test('whose email it is does not depend on the collation of the database', async (t) => {
  const turkish = "encoding 'UTF8' locale_provider icu icu_locale 'tr-TR' locale 'C'"
  const { ask } = await startHost(t, { database: await emptyDatabaseWith(t, turkish) })
  const create = async (email: string, tenant?: string) =>
    (await ask('POST', '/_auth/users', { body: { email, name: 'Irmak', tenant } })).status
  t.equal(await create('IRMAK@EXAMPLE.COM'), 201)
  t.equal(await create('irmak@example.com'), 409)
  t.equal(await create('IRMAK@EXAMPLE.COM', 'acme'), 201)
  t.equal(await create('irmak@example.com', 'acme'), 409)
})
