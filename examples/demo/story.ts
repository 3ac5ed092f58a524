/** What the demo shows, chapter by chapter. */
import { drain, signed } from '@svc/testing'
import { exchange } from './exchange.ts'
import type { Host } from './host.ts'
import { chapter, note, printReceived, short, step } from './print.ts'
import type { ReceiverProcess } from './receiver-process.ts'

interface Stage {
  app: Host['app']
  base: string
  secrets: { BOOTSTRAP_KEY: string; GITHUB_SECRET: string }
  receiver: ReceiverProcess
  handled: Host['handled']
}

/** A row of the delivery log, as far as the demo shows it. */
interface Attempt {
  attempt: number
  status: string
  error: string | null
  durationMs: number
}

/** Returns the id of the webhook whose receiver answers. */
export async function showAll(stage: Stage): Promise<string> {
  chapter('API keys')
  const key = await scopesRevocationRotation(stage)
  chapter('Webhooks out')
  const webhook = await transactionalDelivery(stage, key)
  await secretRotation(stage, key, webhook)
  await retries(stage, key)
  await deadLetters(stage, key)
  chapter('Webhooks in')
  await inbound(stage)
  console.log('\nDone. Only Fastify, Postgres and HTTP took part.')
  return webhook
}

async function scopesRevocationRotation({ base, secrets }: Stage): Promise<string> {
  const admin = { key: secrets.BOOTSTRAP_KEY, as: 'bootstrap key' }
  step('A request without a key is refused')
  await exchange(base, { method: 'GET', path: '/orders' }, 401)

  step('The bootstrap key creates a user, and a key that may read orders')
  const user = await exchange<{ id: string }>(
    base,
    {
      method: 'POST',
      path: '/_auth/users',
      ...admin,
      body: { email: 'ada@example.com', name: 'Ada' },
      show: ['email', 'role'],
    },
    201,
  )
  const createKey = (scopes: string[]) =>
    exchange<{ id: string; key: string }>(
      base,
      {
        method: 'POST',
        path: `/_auth/users/${user.id}/keys`,
        ...admin,
        body: { scopes },
        show: ['key', 'scopes'],
      },
      201,
    )
  const reading = await createKey(['orders:read'])

  step('That key reads orders; it may not create one')
  const first = { key: reading.key, as: 'first key' }
  await exchange(base, { method: 'GET', path: '/orders', ...first }, 200)
  await exchange(base, { method: 'POST', path: '/orders', ...first, body: { item: 'tea' } }, 403)

  step('A second key has both scopes; the first key is revoked')
  const both = await createKey(['orders:read', 'orders:write'])
  await exchange(base, { method: 'DELETE', path: `/_auth/keys/${reading.id}`, ...admin }, 204)
  await exchange(base, { method: 'GET', path: '/orders', ...first }, 401)
  const second = { key: both.key, as: 'second key' }
  await exchange(base, { method: 'GET', path: '/orders', ...second }, 200)

  step('The second key is rotated; for an hour its successor is valid beside it')
  const successor = await exchange<{ key: string }>(
    base,
    {
      method: 'POST',
      path: '/_auth/me/rotate',
      ...second,
      body: { overlapSeconds: 3600 },
      show: ['key', 'scopes'],
    },
    201,
  )
  await exchange(base, { method: 'GET', path: '/orders', ...second }, 200)
  const third = { key: successor.key, as: 'third key' }
  await exchange(base, { method: 'GET', path: '/orders', ...third }, 200)
  return successor.key
}

async function transactionalDelivery(stage: Stage, key: string): Promise<string> {
  const { base, receiver } = stage
  step('A webhook is registered; its receiver is another process')
  const { id } = await register(stage, '/ok', 'order.created')

  step('An order and its event are committed in one transaction')
  await placeOrder(base, key, { item: 'tea' })
  await printDeliveries(receiver, '/ok', 1)

  step('A transaction that rolls back publishes nothing')
  await placeOrder(base, key, { item: 'cake', fail: true }, 500)
  await placeOrder(base, key, { item: 'milk' })
  await printDeliveries(receiver, '/ok', 2, 1)
  note('the order of cake was not delivered')
  return id
}

async function secretRotation(stage: Stage, key: string, id: string): Promise<void> {
  const { base, secrets, receiver } = stage
  step('The signing secret is rotated; for a day both secrets are valid')
  const { secret } = await exchange<{ secret: string }>(
    base,
    {
      method: 'POST',
      path: `/_webhooks/${id}/rotate-secret`,
      key: secrets.BOOTSTRAP_KEY,
      as: 'bootstrap key',
      show: ['secret'],
    },
    200,
  )
  note('the receiver still has the old secret:')
  await placeOrder(base, key, { item: 'salt' })
  await printDeliveries(receiver, '/ok', 3, 2)
  receiver.trust('/ok', secret)
  note('the receiver has the new secret:')
  await placeOrder(base, key, { item: 'jam' })
  await printDeliveries(receiver, '/ok', 4, 3)
}

async function retries(stage: Stage, key: string): Promise<void> {
  step('A receiver that fails twice gets the delivery again')
  await register(stage, '/flaky', 'order.shipped')
  await placeOrder(stage.base, key, { item: 'rice', event: 'order.shipped' })
  await printDeliveries(stage.receiver, '/flaky', 3)
}

async function deadLetters(stage: Stage, key: string): Promise<void> {
  const { app, base, secrets, receiver } = stage
  step('A delivery that fails three times is dead, and can be redriven')
  const { id } = await register(stage, '/silent', 'order.lost')
  await placeOrder(base, key, { item: 'corn', event: 'order.lost' })
  await printDeliveries(receiver, '/silent', 3)
  const admin = { key: secrets.BOOTSTRAP_KEY, as: 'bootstrap key' }
  await drain(app)
  note('the delivery log, newest first:')
  const log = await readAttempts(`${base}/_webhooks/${id}/deliveries`, admin.key)
  for (const { attempt, status, error, durationMs } of log) {
    note(`attempt ${attempt}: ${status}, ${error} after ${durationMs} ms`)
  }
  receiver.repair('/silent')
  await exchange(base, { method: 'POST', path: `/_webhooks/${id}/redrive`, ...admin }, 202)
  await printDeliveries(receiver, '/silent', 4, 3)
}

async function inbound({ app, base, secrets, handled }: Stage): Promise<void> {
  const requestSignedWith = (secret: string) => {
    const push = { ref: 'refs/heads/main', commits: 2 }
    const { method, headers, payload: body } = signed('github', push, { secret })
    return { method, path: '/hooks/github', headers, body, show: ['status'] }
  }
  const request = requestSignedWith(secrets.GITHUB_SECRET)
  step('A request that GitHub signed becomes an event of the application')
  await exchange(base, { ...request, as: 'signed' }, 200)
  await drain(app)
  note(`handled: ${handled[0]?.name} ${short(handled[0]?.payload)}`)

  step('The same request again is a duplicate')
  await exchange(base, { ...request, as: 'signed' }, 200)

  step('A request with a wrong signature is refused')
  const forged = requestSignedWith('a secret that GitHub does not have')
  await exchange(base, { ...forged, as: 'forged' }, 401)
  note(`events handled: ${handled.length}`)
}

/** Registers a webhook at a path of the receiver, which is given the secret. */
async function register(
  { base, secrets, receiver }: Stage,
  path: string,
  event: string,
): Promise<{ id: string }> {
  const webhook = await exchange<{ id: string; secret: string }>(
    base,
    {
      method: 'POST',
      path: '/_webhooks',
      key: secrets.BOOTSTRAP_KEY,
      as: 'bootstrap key',
      body: { url: receiver.url + path, events: [event] },
      show: ['events', 'secret'],
    },
    201,
  )
  receiver.trust(path, webhook.secret)
  return webhook
}

async function placeOrder(base: string, key: string, order: object, expected = 201): Promise<void> {
  await exchange(
    base,
    { method: 'POST', path: '/orders', key, as: 'third key', body: order },
    expected,
  )
}

/** Waits until `count` requests have come in at a path, and prints those after the first `printed`. */
async function printDeliveries(
  receiver: ReceiverProcess,
  path: string,
  count: number,
  printed = 0,
): Promise<void> {
  const received = await receiver.received(path, count)
  received.slice(printed).forEach(printReceived)
}

async function readAttempts(url: string, key: string): Promise<Attempt[]> {
  const response = await fetch(url, { headers: { 'x-api-key': key } })
  return (await response.json()) as Attempt[]
}
