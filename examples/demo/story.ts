/** What the demo tells, chapter by chapter. */
import { createHmac } from 'node:crypto'
import { exchange } from './exchange.ts'
import type { Host } from './host.ts'
import { brief, cameBack, note, step, tellReceived } from './print.ts'
import type { ReceiverProcess } from './receiver-process.ts'

interface Stage {
  base: string
  secrets: { BOOTSTRAP_KEY: string; GITHUB_SECRET: string }
  receiver: ReceiverProcess
  heard: Host['heard']
}

/** A record of the delivery log, as far as the story tells of it. */
interface Attempt {
  attempt: number
  status: string
  error: string | null
  durationMs: number
  nextAttemptAt: string | null
}

/** Returns the id of the webhook whose receiver answers. */
export async function tellStory(stage: Stage): Promise<string> {
  const key = await keysAreIssuedAndGuard(stage)
  const webhook = await anEventIsDelivered(stage, key)
  await aFlakyReceiverGetsItsRetries(stage, key)
  await aSilentReceiverEndsInTheDeadLetters(stage, key)
  await aProviderSendsAWebhook(stage)
  console.log('\nThat is the whole story: nothing but Fastify, Postgres and HTTP took part.')
  return webhook
}

async function keysAreIssuedAndGuard({ base, secrets }: Stage): Promise<string> {
  const admin = { key: secrets.BOOTSTRAP_KEY, as: 'bootstrap key' }
  step('A request without a key is refused')
  await exchange(base, { method: 'GET', path: '/orders' }, 401)

  step('The bootstrap key makes a user, and an API key for it')
  const user = await exchange<{ id: string }>(
    base,
    {
      method: 'POST',
      path: '/_auth/users',
      ...admin,
      body: { email: 'ada@example.com', name: 'Ada' },
    },
    201,
  )
  const { key } = await exchange<{ key: string }>(
    base,
    { method: 'POST', path: `/_auth/users/${user.id}/keys`, ...admin, body: { label: 'laptop' } },
    201,
  )

  step('The key is let in, and refused at the management routes')
  await exchange(base, { method: 'GET', path: '/orders', key, as: "Ada's key" }, 200)
  await exchange(base, { method: 'GET', path: '/_auth/users', key, as: "Ada's key" }, 403)
  return key
}

async function anEventIsDelivered(stage: Stage, key: string): Promise<string> {
  const { base, receiver } = stage
  step('A webhook is registered at a receiver in another process')
  const { id } = await register(stage, '/ok', 'order.created')

  step('An event is published inside a transaction, and arrives signed')
  await placeOrder(base, key, { item: 'tea' })
  await tellOf(receiver, '/ok', 1)

  step('A transaction that rolls back publishes nothing')
  await placeOrder(base, key, { item: 'cake', fail: true }, 500)
  await placeOrder(base, key, { item: 'milk' })
  await tellOf(receiver, '/ok', 2, 1)
  note('the cake was never heard of')
  return id
}

async function aFlakyReceiverGetsItsRetries(stage: Stage, key: string): Promise<void> {
  step('A receiver that fails twice gets its retries')
  await register(stage, '/flaky', 'order.shipped')
  await placeOrder(stage.base, key, { item: 'rice', event: 'order.shipped' })
  await tellOf(stage.receiver, '/flaky', 3)
}

async function aSilentReceiverEndsInTheDeadLetters(stage: Stage, key: string): Promise<void> {
  const { base, secrets, receiver } = stage
  step('A receiver that never answers ends in the dead-letter queue, and shows in the delivery log')
  const { id } = await register(stage, '/silent', 'order.lost')
  await placeOrder(base, key, { item: 'salt', event: 'order.lost' })
  await tellOf(receiver, '/silent', 3)
  const admin = { key: secrets.BOOTSTRAP_KEY }
  const letters = `${base}/_webhooks/${id}/dead-letters`
  await until(async () => (await readAttempts(letters, admin.key)).length === 1)
  const [letter] = await exchange<Attempt[]>(
    base,
    { method: 'GET', path: `/_webhooks/${id}/dead-letters`, ...admin, as: 'bootstrap key' },
    200,
  )
  note(`dead after attempt ${letter?.attempt}: ${letter?.error}`)
  const log = await readAttempts(`${base}/_webhooks/${id}/deliveries`, admin.key)
  note('the delivery log, newest first:')
  for (const { attempt, status, error, durationMs, nextAttemptAt } of log) {
    note(brief({ attempt, status, error, durationMs, nextAttemptAt }))
  }
}

async function aProviderSendsAWebhook({ base, secrets, heard }: Stage): Promise<void> {
  const body = JSON.stringify({ ref: 'refs/heads/main', commits: 2 })
  const signature = `sha256=${createHmac('sha256', secrets.GITHUB_SECRET).update(body).digest('hex')}`
  const request = {
    method: 'POST' as const,
    path: '/hooks/github',
    body,
    headers: { 'x-hub-signature-256': signature, 'x-github-delivery': 'd-1' },
  }
  step('A request that GitHub signed is verified and reaches a subscription of the application')
  await exchange(base, { ...request, as: 'signed' }, 200)
  await until(async () => heard.length === 1)
  cameBack(`the application heard ${brief(heard[0])}`)

  step('Sent twice, it is one event')
  await exchange(base, { ...request, as: 'signed, the same again' }, 200)

  step('A forged one is refused')
  const forged = { ...request.headers, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }
  await exchange(base, { ...request, headers: forged, as: 'forged' }, 401)
  note(`the application has heard of ${heard.length} event in all`)
}

/** Registers a webhook at a path of the receiver, which is told the secret. */
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
    },
    201,
  )
  receiver.trust(path, webhook.secret)
  return webhook
}

async function placeOrder(base: string, key: string, order: object, expected = 201): Promise<void> {
  await exchange(
    base,
    { method: 'POST', path: '/orders', key, as: "Ada's key", body: order },
    expected,
  )
}

/** Waits until `count` requests have come in at a path, and tells of those after the first `told`. */
async function tellOf(
  receiver: ReceiverProcess,
  path: string,
  count: number,
  told = 0,
): Promise<void> {
  const received = await receiver.received(path, count)
  received.slice(told).forEach(tellReceived)
}

async function readAttempts(url: string, key: string): Promise<Attempt[]> {
  const response = await fetch(url, { headers: { 'x-api-key': key } })
  return (await response.json()) as Attempt[]
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('What the story waited for did not come to pass.')
    await new Promise((resolve) => {
      setTimeout(resolve, 50)
    })
  }
}
