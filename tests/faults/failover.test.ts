/** The primary is lost, and its standby takes over: nothing acknowledged is lost, and the feed goes on where it was. */
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { until, untilCount } from '../support/until.ts'
import { startHost, type Host } from '../webhooks/support/host.ts'
import { startPair } from './pair.ts'
import { openReceiver } from '../support/receiver.ts'

/** Publishes one event after the other until `stop`, and remembers which were acknowledged. */
function publishing({ app }: Host, prefix: string) {
  const acknowledged: string[] = []
  let isOn = true
  const ended = (async () => {
    for (let n = 0; isOn; n++) {
      const id = `${prefix}-${n}`
      await app.svc.events.publish('order.created', { id }, { id }).then(
        () => acknowledged.push(id),
        () => setTimeout(20),
      )
    }
  })()
  const stop = () => {
    isOn = false
    return ended
  }
  return { acknowledged, stop }
}

/** Reads the feed from a cursor on until `stop`, whatever becomes of single requests. */
function reading({ ask }: Host, from: string) {
  const ids: string[] = []
  let isOn = true
  const ended = (async () => {
    for (let cursor = from; isOn;) {
      const { status, body } = await ask('GET', `/feed?after=${cursor}&wait=1`)
      if (status === 200) {
        ids.push(...body.events.map(({ id }: { id: string }) => id))
        cursor = body.cursor
      } else if (status !== 503) throw new Error(JSON.stringify(body))
    }
  })()
  const stop = () => {
    isOn = false
    return ended
  }
  return { ids, stop, ended }
}

t.test('a failover to a standby that has all commits', async (t) => {
  const { url, standbyUrl, standby, kill } = await startPair(t, true)
  const proxy = await proxyPostgres(t, url)
  const hosts = [
    await startHost(t, { database: proxy.url }),
    await startHost(t, { database: proxy.url }),
  ] as const
  const receiver = await openReceiver(t)
  await hosts[0].register(receiver.url, ['order.created'])
  const { cursor } = (await hosts[0].ask('GET', '/feed?after=start')).body
  const readers = hosts.map((host) => reading(host, cursor))
  const publishers = hosts.flatMap((host, h) => [1, 2].map((n) => publishing(host, `${h}.${n}`)))
  const acknowledged = () => publishers.flatMap((one) => one.acknowledged)
  const more = async (count: number) => {
    const before = acknowledged().length
    await until(() => acknowledged().length >= before + count)
  }
  await more(300)

  kill()
  proxy.cut()
  await standby.query('select pg_promote()')
  proxy.moveTo(standbyUrl)
  proxy.mend()

  await more(300)
  for (const { stop } of publishers) await stop()
  const all = acknowledged()
  const missing = (ids: readonly string[]) => {
    const known = new Set(ids)
    return all.filter((id) => !known.has(id))
  }
  await until(() => readers.every(({ ids }) => missing(ids).length === 0))
  for (const { stop } of readers) await stop()
  const { rows } = await standby.query(
    `select split_part(id, ' ', -1) as id from svc."__svc.events" where name = 'order.created' order by position`,
  )
  const stored = rows.map(({ id }: { id: string }) => id)
  for (const { ids } of readers) t.same(ids, stored, 'each event once, in one order')
  await until(() => {
    const delivered = receiver.received.map(({ body }) => body.payload.id as string)
    return missing(delivered).length === 0
  })
  t.pass('each acknowledged event was delivered')
})

t.test(
  'a process that reconnects to a promoted standby some seconds after others keeps its attempts',
  async (t) => {
    const { url, standbyUrl, standby, kill } = await startPair(t, true)
    const proxies = [await proxyPostgres(t, url), await proxyPostgres(t, url)] as const
    const [first, second] = [
      await startHost(t, { database: proxies[0].url }),
      await startHost(t, { database: proxies[1].url }),
    ]
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const receiver = await openReceiver(t, { answer: () => released.then(() => 200) })
    const webhook = await first.register(receiver.url, ['order.created'])
    // Claimed by its publisher.
    await second.app.svc.events.publish('order.created', {})
    await receiver.waitFor(1)

    kill()
    for (const proxy of proxies) proxy.cut()
    await standby.query('select pg_promote()')
    for (const proxy of proxies) proxy.moveTo(standbyUrl)
    proxies[0].mend()
    await until(() =>
      first.app.svc.events.publish('order.shipped', {}).then(
        () => true,
        () => false,
      ),
    )
    await setTimeout(4500)
    proxies[1].mend()
    await until(() =>
      second.app.svc.events.publish('order.shipped', {}).then(
        () => true,
        () => false,
      ),
    )
    release()

    const [delivery] = await untilCount(
      1,
      async () => (await first.ask('GET', `/${webhook.id}/deliveries?status=delivered`)).body,
    )
    t.equal(delivery.attempt, 1)
    t.equal(receiver.received.length, 1)
  },
)

t.test(
  'a process with a list leaves a primary that runs on beside a promoted standby',
  async (t) => {
    const { url, standbyUrl, standby } = await startPair(t)
    const [first, second] = [new URL(url).host, new URL(standbyUrl).host]
    const { app } = await startHost(t, { database: url.replace(first, `${first},${second}`) })
    const isStandby = async () => {
      const { rows } = await app.svc.database
        .query<{ port: string }>(`select current_setting('port') as port`)
        .catch(() => ({ rows: [] }))
      return rows[0]?.port === new URL(standbyUrl).port
    }
    t.equal(await isStandby(), false)
    await standby.query('select pg_promote()')
    await until(isStandby)
    await until(() =>
      app.svc.events.publish('order.created', {}).then(
        () => true,
        () => false,
      ),
    )
    t.equal(await isStandby(), true)
  },
)
