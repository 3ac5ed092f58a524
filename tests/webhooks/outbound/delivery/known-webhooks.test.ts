import t from 'tap'
import { drain, type Receiver } from '@svc/testing'
import { openReceiver } from '../../../support/receiver.ts'
import {
  KnownWebhooks,
  LONGEST_MS,
  LONGEST_WAIT_MS,
} from '../../../../packages/webhooks/src/outbound/delivery/prepare-deliveries.ts'
import type { DeliveryJob } from '../../../../packages/webhooks/src/outbound/delivery-queue.ts'
import type { WebhookForDelivery } from '../../../../packages/webhooks/src/tables/webhooks-for-delivery.ts'
import { until } from '../../../support/until.ts'
import { startHost, type Host } from '../../support/host.ts'

/**
 * Publishes until a delivery has come: where the pump is fetching, a job is not claimed at its publish.
 * The others have been delivered as well then.
 */
const untilDelivered = async ({ app }: Host, receiver: Receiver): Promise<void> => {
  const before = receiver.received.length
  await until(
    () => app.svc.events.publish('order.created', {}),
    () => receiver.received.length > before,
  )
  await drain(app)
}

/** For jobs that are not claimed at their publish. */
const MOST_TRIES = 20

const change = ({ app }: Host, assignment: string, values: unknown[] = []) =>
  app.svc.database.query(`update svc."__svc.webhooks.registrations" set ${assignment}`, values)

t.test('a webhook that has not changed is not read for each delivery', async (t) => {
  const host = await startHost(t)
  const [old, other] = [await openReceiver(t), await openReceiver(t)]
  await host.register(old.url)
  await untilDelivered(host, old)

  const { database } = host.app.svc
  const registrations = 'alter table svc."__svc.webhooks.registrations"'
  let isKnown = false
  for (let tries = 0; tries < MOST_TRIES && !isKnown; tries++) {
    await change(host, 'url = $1', [old.url])
    await untilDelivered(host, old)
    await database.query(`${registrations} disable trigger raise_version`)
    await change(host, 'url = $1', [other.url])
    await database.query(`${registrations} enable trigger raise_version`)
    // Only a process that reads the webhook sees a change that has not raised its version. It reads
    // it for a job that was not claimed at its publish.
    const before = old.received.length
    await host.app.svc.events.publish('order.created', {})
    await drain(host.app)
    isKnown = old.received.length > before
  }
  t.ok(isKnown)
})

t.test('a statement that changes a webhook holds for the next publish', async (t) => {
  const host = await startHost(t)
  const [old, other] = [await openReceiver(t), await openReceiver(t)]
  const { id } = await host.register(old.url)
  await untilDelivered(host, old)
  const { headers } = (await old.waitFor(1))[0]!
  t.notOk(headers['x-own'])

  await change(host, 'url = $1, headers = $2', [other.url, { 'x-own': 'changed' }])
  const sent = old.received.length
  await host.app.svc.events.publish('order.created', { n: 'changed' })
  const [first] = await other.waitFor(1)
  t.match(first, { headers: { 'x-own': 'changed' }, body: { payload: { n: 'changed' } } })
  t.equal(old.received.filter(({ body }) => body.payload.n === 'changed').length, 0)
  t.ok(old.received.length >= sent)

  await change(host, 'active = false')
  await host.app.svc.events.publish('order.created', { n: 'inactive' })
  await until(async () => (await host.ask('GET', `/${id}`)).body.waiting === 1)
  t.equal(other.received.length, 1)
})

t.test('each column that a delivery reads raises the version', async (t) => {
  const host = await startHost(t)
  const { id } = await host.register('http://127.0.0.1:9/')
  const versionOf = async () => {
    const { rows } = await host.app.svc.database.query(
      'select version from svc."__svc.recipients" where recipient = $1',
      [id],
    )
    return rows[0].version as string
  }
  const changes = [
    `url = url || 'x'`,
    'active = false',
    `secret = secret || 'x'`,
    `previous_secrets = '[]'`,
    `headers = '{}'`,
    'timeout_ms = 5',
    `transform = 'slack'`,
    `retry = '{}'`,
    `rate_limit = '{}'`,
    'max_in_flight = 1',
    'ordered = true',
  ]
  for (const assignment of changes) {
    const before = await versionOf()
    await change(host, assignment)
    t.not(await versionOf(), before, assignment)
  }
  const last = await versionOf()
  await change(host, `last_success_at = now(), label = 'x', updated_at = now()`)
  t.equal(await versionOf(), last, 'what attempts write every few seconds does not')
})

t.test('a webhook that is paused before a publish is committed waits', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t)
  const { id } = await host.register(receiver.url)
  await untilDelivered(host, receiver)
  await host.app.svc.transaction(async (db) => {
    await host.app.svc.events.publish('order.created', { n: 'paused' }, { db })
    t.equal((await host.ask('PATCH', `/${id}`, { active: false })).status, 200)
  })
  await until(async () => (await host.ask('GET', `/${id}`)).body.waiting === 1)
  t.notOk(receiver.received.some(({ body }) => body.payload.n === 'paused'))
})

const WEBHOOK: WebhookForDelivery = {
  id: 'w',
  url: 'https://example.com/',
  active: true,
  paused: false,
  isOperators: true,
  secret: 'whsec_x',
  previousSecrets: [],
  headers: null,
  timeoutMs: null,
  transform: null,
  fields: null,
  retry: null,
  isRestricted: false,
}

const jobOf = (version: string, askedAt: number, webhookId = 'w') =>
  ({ data: { recipient: webhookId }, recipientVersion: { version, askedAt } }) as DeliveryJob

t.test('a webhook is known in one version, and for a minute', async (t) => {
  const known = new KnownWebhooks()
  known.keep(jobOf('1', 0), WEBHOOK, 10)
  t.equal(known.find(jobOf('1', 20), 20), WEBHOOK)
  t.equal(known.find(jobOf('2', 20), 20), undefined, 'it has changed')
  t.equal(known.find(jobOf('1', 20, 'other'), 20), undefined)
  t.equal(known.find(jobOf('1', 0), LONGEST_WAIT_MS + 1), undefined, 'the publish is long ago')
  const later = 10 + LONGEST_MS + 1
  t.equal(known.find(jobOf('1', later), later), undefined, 'it was read a minute ago')
  t.equal(known.find({ data: { recipient: 'w' } } as DeliveryJob, 20), undefined, 'a fetched job')
})

t.test(
  'a webhook whose old secret expires is read each time, as is one with long headers',
  async (t) => {
    const known = new KnownWebhooks()
    known.keep(jobOf('1', 0), { ...WEBHOOK, previousSecrets: ['whsec_old'] }, 0)
    t.equal(known.find(jobOf('1', 0), 0), undefined)
    known.keep(jobOf('1', 0), { ...WEBHOOK, headers: { 'x-long': 'x'.repeat(5000) } }, 0)
    t.equal(known.find(jobOf('1', 0), 0), undefined)
  },
)

t.test('the webhooks that were read first are forgotten first', async (t) => {
  const known = new KnownWebhooks()
  for (let n = 0; n < 1001; n++) known.keep(jobOf('1', 0, `w${n}`), WEBHOOK, 0)
  t.equal(known.find(jobOf('1', 0, 'w0'), 0), undefined)
  t.equal(known.find(jobOf('1', 0, 'w1'), 0), WEBHOOK)
})
