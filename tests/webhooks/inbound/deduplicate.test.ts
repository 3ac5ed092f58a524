// promise: A repeated request is published once, also if two arrive at once or a publish failed
import t from 'tap'
import type { InboundSource } from '@svc/webhooks'
import { eventsOf, hostOf, type Host } from './host.ts'

const source: InboundSource = {
  path: '/hooks/a',
  publishAs: 'a',
  verify: (request) => request.headers['x-good'] === 'yes',
  deduplicationKey: (request) => request.headers['x-id'] ?? null,
}

const post = ({ app }: Host, id: string | undefined, url = '/hooks/a', good = 'yes') =>
  app.inject({
    method: 'POST',
    url,
    headers: { 'x-good': good, ...(id !== undefined && { 'x-id': id }) },
    body: 'a',
  })
const statusOf = async (response: ReturnType<typeof post>) =>
  (await response).json<{ status: string }>().status

t.test('a repeated request is answered as a duplicate, and published once', async (t) => {
  const host = await hostOf(t, { a: source })
  const first = (await post(host, '1')).json<{ eventId: string }>()
  const second = await post(host, '1')
  t.equal(second.statusCode, 200)
  t.strictSame(second.json(), { status: 'duplicate' })
  t.equal(await statusOf(post(host, '2')), 'accepted')
  const events = await eventsOf(host.app)
  t.equal(events.length, 2)
  t.equal(events[0]?.id, first.eventId)
})

t.test('of equal requests at the same time, one is published', async (t) => {
  const host = await hostOf(t, { a: source })
  await host.app.ready()
  const answers = await Promise.all(Array.from({ length: 20 }, () => statusOf(post(host, '1'))))
  t.equal(answers.filter((status) => status === 'accepted').length, 1)
  t.equal(answers.filter((status) => status === 'duplicate').length, 19)
  t.equal((await eventsOf(host.app)).length, 1)
})

t.test('a request without a key is never a repeat', async (t) => {
  const host = await hostOf(t, {
    a: source,
    none: { path: '/hooks/none', publishAs: 'none', verify: () => true },
  })
  for (const id of [undefined, undefined, '', '']) {
    t.equal(await statusOf(post(host, id)), 'accepted', `key ${JSON.stringify(id)}`)
  }
  for (const id of ['1', '1']) t.equal(await statusOf(post(host, id, '/hooks/none')), 'accepted')
})

t.test('two sources do not share deduplication keys', async (t) => {
  const host = await hostOf(t, { a: source, b: { ...source, path: '/hooks/b', publishAs: 'b' } })
  t.equal(await statusOf(post(host, '1')), 'accepted')
  t.equal(await statusOf(post(host, '1', '/hooks/b')), 'accepted')
  t.equal(await statusOf(post(host, '1', '/hooks/b')), 'duplicate')
})

t.test('a deduplication key may have any length and any characters', async (t) => {
  const key = { value: '' }
  const host = await hostOf(t, { a: { ...source, deduplicationKey: () => key.value } })
  for (key.value of ['x'.repeat(1_000_000), '\0', 'Zürich 🔑', '\ud800', "'; drop table x --"]) {
    t.equal(await statusOf(post(host, '')), 'accepted')
    t.equal(await statusOf(post(host, '')), 'duplicate')
  }
})

t.test('a request that is not verified uses up no deduplication key', async (t) => {
  const host = await hostOf(t, { a: source })
  t.equal((await post(host, '1', '/hooks/a', 'no')).statusCode, 401)
  t.equal(await statusOf(post(host, '1')), 'accepted')
})

t.test('a publish that fails uses up no deduplication key', async (t) => {
  const host = await hostOf(t, { a: source })
  await host.app.ready()
  const { database } = host.app.svc
  await database.query('alter table svc."__svc.events" rename to away')
  const failed = await post(host, '1')
  t.equal(failed.statusCode, 500)
  t.match(failed.json(), { code: 'SVC_WEBHOOKS_INBOUND_FAILED' })
  t.match(
    host.log.filter(({ source: name }) => name === 'a'),
    [{ level: 50, code: '42P01' }],
  )
  await database.query('alter table svc.away rename to "__svc.events"')
  t.equal(await statusOf(post(host, '1')), 'accepted')
  t.equal((await eventsOf(host.app)).length, 1)
})

t.test(
  'a publish that had to give way to others in Postgres is a 503 and uses up no key',
  async (t) => {
    const host = await hostOf(t, { a: source })
    await host.app.ready()
    const { database } = host.app.svc
    for (const code of ['57014', '55P03', '40P01']) {
      await database.query(`
      create function give_way() returns trigger language plpgsql as
        $$ begin raise 'gives way' using errcode = '${code}'; end $$;
      create trigger give_way before insert on svc."__svc.events"
        for each row execute function give_way()`)
      const failed = await post(host, code)
      t.equal(failed.statusCode, 503, code)
      t.match(failed.json(), { code: 'SVC_UNAVAILABLE' })
      t.equal(failed.headers['retry-after'], '1')
      await database.query('drop function give_way() cascade')
      t.equal(await statusOf(post(host, code)), 'accepted')
    }
  },
)

t.test('a repeat that waits for a publish that fails is published in its place', async (t) => {
  const host = await hostOf(t, { a: source })
  await host.app.ready()
  const { database } = host.app.svc
  // The first event of the two is refused, at the end of its transaction.
  await database.query(`
    create sequence tries;
    create function refuse_first() returns trigger language plpgsql as
      $$ begin if nextval('tries') = 1 then raise 'refused'; end if; return new; end $$;
    create constraint trigger refuse after insert on svc."__svc.events"
      deferrable initially deferred for each row execute function refuse_first()`)
  const answers = await Promise.all([post(host, '1'), post(host, '1'), post(host, '1')])
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 2)
  t.equal((await eventsOf(host.app)).length, 1)
})

t.test('a deduplication key is remembered for exactly its time', async (t) => {
  const host = await hostOf(t, { a: { ...source, deduplicationTtlSeconds: 100_000 } })
  await post(host, '1')
  const { database } = host.app.svc
  const { rows } = await database.query<{ left: number }>(
    `select extract(epoch from expires_at - e.published_at)::float as left
       from svc."__svc.kv", svc."__svc.events" as e where key like '__svc.webhooks.inbound%'`,
  )
  const { left = 0 } = rows[0] ?? {}
  // The claim and the event are a statement apart, which takes its time on a busy machine.
  t.ok(left >= 99_999 && left < 100_060, String(left))
  const age = (seconds: number) =>
    database.query(
      `update svc."__svc.kv" set expires_at = expires_at - make_interval(secs => $1)
        where key like '__svc.webhooks.inbound%'`,
      [seconds],
    )
  await age(99_000)
  t.equal(await statusOf(post(host, '1')), 'duplicate')
  await age(1000)
  t.equal(await statusOf(post(host, '1')), 'accepted')
  t.equal(await statusOf(post(host, '1')), 'duplicate')
})

t.test('requests whose keys an open transaction holds keep no other waiting', async (t) => {
  const batches: InboundSource = {
    ...source,
    path: '/hooks/b',
    split: (body) => body as unknown[],
    deduplicationKey: (_request, _body, item) => String(item),
  }
  const host = await hostOf(t, { a: source, b: batches })
  const batch = (items: string[]) =>
    host.app.inject({ method: 'POST', url: '/hooks/b', headers: { 'x-good': 'yes' }, body: items })
  for (const first of [post(host, '1'), batch(['1'])]) t.equal((await first).statusCode, 200)

  const holder = await host.app.svc.database.connect()
  await holder.query('begin')
  await holder.query('update svc."__svc.kv" set value = value')
  let answered = 0
  const repeats = [1, 2, 3, 4].flatMap(() => [post(host, '1'), batch(['1', '3'])])
  for (const repeat of repeats) void repeat.then(() => answered++)
  for (let n = 10; n < 20; n++) {
    t.equal(await statusOf(post(host, String(n))), 'accepted')
    t.equal((await batch([String(n), String(-n)])).statusCode, 200)
  }
  t.equal(answered, 0, 'the repeats wait')
  await holder.query('commit')
  holder.release()
  t.ok((await Promise.all(repeats)).every(({ statusCode }) => statusCode === 200))
  const names = (await eventsOf(host.app)).length
  t.equal(names, 2 + 10 + 20 + 1, 'each key is published once')
})
