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
})

const AFTER_URN = 'after=urn:uuid:0190a1b2-0000-7000-8000-000000000000'

t.test('a limit is 1 to 1000, and after is an id', async (t) => {
  const { ask, makeUser } = await startHost(t)
  const { id } = await makeUser()
  for (const query of [
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=1.5',
    'after=x',
    AFTER_URN,
    'x=1',
  ]) {
    t.match(await ask('GET', `/_auth/users?${query}`), {
      status: 400,
      body: { code: 'SVC_INVALID_INPUT' },
    })
    t.equal((await ask('GET', `/_auth/users/${id}/keys?${query}`)).status, 400, query)
  }
  t.match(await ask('GET', `/_auth/users?limit=1000&after=${id}`), { status: 200, body: [] })
})

t.test('a list action without a limit returns all rows', async (t) => {
  const { app } = await startHost(t)
  await app.svc.database.query(
    `insert into svc."__svc.auth.users" (id, email, name, role)
     select gen_random_uuid(), n || '@example.com', 'N', 'user' from generate_series(1, 1100) n`,
  )
  t.equal((await app.svc.actions.call('__svc.auth.listUsers')).length, 1100)
})
