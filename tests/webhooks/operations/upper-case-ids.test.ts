// Clients may write a UUID in upper case (RFC 9562, section 4).
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

const secret = randomBytes(32).toString('base64')
const encrypted = { secrets: () => secret, encryption: { secretNames: ['KEY'] } }

for (const [name, core] of Object.entries({ encrypted, 'not encrypted': {} })) {
  t.test(`each operation takes an id in upper case: secrets ${name}`, async (t) => {
    const receiver = await openReceiver(t)
    const { app, ask, register } = await startHost(t, { core })
    const { id, secret: first } = await register(receiver.url)
    const upper = id.toUpperCase()
    const delivered = async (count: number) =>
      await until(
        () => ask('GET', `/${upper}/deliveries`),
        ({ body }) => body.length === count,
      )

    t.match(await ask('GET', `/${upper}`), { status: 200, body: { id, secret: first } })
    const headers = { Authorization: 'Bearer abc' }
    const changed = await ask('PATCH', `/${upper}`, { headers, label: 'l' })
    t.match(changed, { status: 200, body: { id, label: 'l' } })
    t.match((await ask('GET', `/${id}`)).body, { headers, secret: first })

    const rotated = await ask('POST', `/${upper}/rotate-secret`)
    t.match(rotated, { status: 200, body: { id, secret: /^whsec_/ } })
    t.equal((await ask('GET', `/${id}`)).body.secret, rotated.body.secret)

    const tested = await ask('POST', `/${upper}/test`)
    t.equal(tested.status, 202)
    await delivered(1)
    const of = tested.body.deliveryId.toUpperCase()
    t.equal((await ask('POST', `/${upper}/deliveries/${of}/redeliver`)).status, 202)
    const { body: log } = await delivered(2)
    t.ok(log.every((one: { webhookId: string }) => one.webhookId === id))
    const attempt = { event: 'order.created', payload: {}, deliveryId: of, attempt: 1 }
    await app.svc.actions.call('__svc.webhooks.deliver', { ...attempt, webhookId: upper })
    await delivered(3)

    t.match(await ask('POST', `/${upper}/redrive`), { status: 202, body: { redriven: 0 } })
    t.match(await ask('GET', `/${upper}/dead-letters`), { status: 200, body: [] })
    const since = new Date(Date.now() - 3_600_000).toISOString()
    const made = await ask('POST', `/${upper}/recover`, { since, what: 'failed' })
    t.equal(made.status, 202)
    const recovery = `/${upper}/recoveries/${made.body.id.toUpperCase()}`
    t.match(await ask('GET', recovery), { status: 200, body: { id: made.body.id, webhookId: id } })
    t.equal((await ask('GET', `/${upper}/recoveries`)).body.length, 1)
    t.equal((await ask('GET', `/stats?webhookId=${upper}`)).status, 200)
    t.equal((await ask('GET', `/deliveries?webhookId=${upper}`)).body.length, 3)

    await ask('PATCH', `/${upper}`, { active: false })
    await ask('POST', `/${upper}/test`)
    t.equal((await ask('GET', `/${id}`)).body.waiting, 1)
    t.equal((await ask('DELETE', `/${upper}`)).status, 204)
    const { rows } = await app.svc.database.query(
      `select from svc_jobs.job where name = '__svc.webhooks.deliver' and state < 'active'`,
    )
    t.equal(rows.length, 0, 'its waiting deliveries are deleted with it')
    const audited = await app.svc.audit.list({ target: upper })
    t.match(audited.at(0), { action: 'webhook.delete', target: { id } })
  })
}
