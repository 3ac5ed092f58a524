import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import {
  makeAttempt,
  type AttemptSettings,
} from '../../../../packages/webhooks/src/outbound/delivery/attempt.ts'
import type { Post } from '../../../../packages/webhooks/src/outbound/http/post.ts'
import type { WebhookForDelivery } from '../../../../packages/webhooks/src/tables/webhooks-for-delivery.ts'

const delivery = { event: 'order.created', payload: '{}', deliveryId: 'd', attempt: 1 }

/** The time that the request of an attempt has. */
async function timeOf(timeoutMs: number | null, transform: string | null): Promise<number> {
  let given: number | undefined
  const post = {
    send: (...[, , , , options]: Parameters<Post['send']>) => {
      given = options?.timeoutMs
      return Promise.resolve({ statusCode: 200, responseBody: '' })
    },
  } as unknown as Post
  const settings = {
    deliveryTimeoutMs: 60_000,
    transforms: new Map([['slow', () => wait(50, { body: 'slow' })]]),
    health: { add: () => {} },
    log: { warn: () => {} },
  } as unknown as AttemptSettings
  const webhook = {
    id: 'w',
    url: 'https://receiver.example/',
    secret: 'whsec_AAAA',
    previousSecret: null,
    headers: null,
    transform,
    timeoutMs,
  } as unknown as WebhookForDelivery
  const { signal } = new AbortController()
  await makeAttempt(post, settings, webhook, delivery, signal)
  return given ?? Infinity
}

t.test('the time of an attempt is that of its transform and its request together', async (t) => {
  t.equal(await timeOf(40_000, null), 40_000)
  t.equal(await timeOf(null, null), Infinity, 'the request has its default')
  for (const [limitMs, longest] of [
    [40_000, 40_000],
    [null, 60_000],
  ] as const) {
    const left = await timeOf(limitMs, 'slow')
    t.ok(left > 0 && left <= longest - 45, `${left} of ${longest}`)
  }
})
