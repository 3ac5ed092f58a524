import t from 'tap'
import { startHost, type Ask } from '../support/host.ts'

/** All pages from a path on, by their links. */
async function pages(ask: Ask, path: string): Promise<{ id: string }[][]> {
  const read: { id: string }[][] = []
  let next: string | undefined = path
  while (next !== undefined) {
    const { body, headers } = await ask('GET', next)
    read.push(body)
    next = /^<(.*)>; rel="next"$/.exec(String(headers.link))?.[1]
  }
  return read
}

t.test('users and keys are listed newest first, page by page', async (t) => {
  const { ask, makeUser, makeKey } = await startHost(t)
  const users = []
  for (let i = 0; i < 5; i++) users.push(await makeUser())
  const [{ id: userId } = { id: '' }] = users
  const keys = []
  for (let i = 0; i < 4; i++) keys.push(await makeKey({ userId }))
  await makeKey()

  const userPages = await pages(ask, '/_auth/users?limit=2')
  t.same(
    userPages.map((page) => page.length),
    [2, 2, 2],
  )
  t.same(
    userPages
      .flat()
      .slice(1)
      .map(({ id }) => id),
    users.toReversed().map(({ id }) => id),
  )

  const keyPages = await pages(ask, `/_auth/users/${userId}/keys?limit=2`)
  t.same(
    keyPages.map((page) => page.length),
    [2, 2],
  )
  t.same(
    keyPages.flat().map(({ id }) => id),
    keys.toReversed().map(({ id }) => id),
  )

  const whole = await ask('GET', '/_auth/users')
  t.equal(whole.body.length, 6)
  t.notOk(whole.headers.link)

  // What else is refused is in tests/core/http/pagination.test.ts.
  for (const path of ['/_auth/users', `/_auth/users/${userId}/keys`]) {
    const { status, body } = await ask('GET', `${path}?limit=1001`)
    t.match({ status, body }, { status: 400, body: { code: 'SVC_INVALID_INPUT' } }, path)
  }
})

t.test('a list action without a limit returns all rows', async (t) => {
  const { app } = await startHost(t)
  await app.svc.database.query(
    `insert into svc."__svc.auth.users" (id, email, name, role)
     select gen_random_uuid(), n || '@example.com', 'N', 'user' from generate_series(1, 1100) n`,
  )
  t.equal((await app.svc.actions.call('__svc.auth.listUsers')).length, 1100)
})
