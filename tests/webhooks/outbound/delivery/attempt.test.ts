import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import {
  makeAttempt,
  type AttemptSettings,
} from '../../../../packages/webhooks/src/outbound/delivery/attempt.ts'
import { headerNames } from '../../../../packages/webhooks/src/outbound/settings/header-names.ts'
import type {
  AnyTransform,
  Transform,
} from '../../../../packages/webhooks/src/outbound/transforms/transform.ts'
import type { PostResult } from '../../../../packages/webhooks/src/outbound/http/post-result.ts'
import type { Post } from '../../../../packages/webhooks/src/outbound/http/post.ts'
import type { WebhookForDelivery } from '../../../../packages/webhooks/src/tables/webhooks-for-delivery.ts'

const delivery = { event: 'order.created', payload: '{}', deliveryId: 'd', attempt: 1 }

/** A promise of another library, which never resolves. */
// oxlint-disable-next-line unicorn/no-thenable -- that it is one is its point
const endless = { then: () => endless }

const TRANSFORMS = new Map<string, AnyTransform>(
  Object.entries<Transform>({
    slow: () => wait(50, { body: 'slow' }),
    endless: () => endless as never,
  }).map(([name, run]) => [name, { run, ownSignatures: true }]),
)

const DELIVERED: PostResult = {
  statusCode: 200,
  failure: null,
  retryAfter: null,
  responseBody: '',
}

/** The step that follows an attempt, the time that its request had, and whether it counts for health. */
async function attempt(
  { timeoutMs, transform }: Pick<WebhookForDelivery, 'timeoutMs' | 'transform'>,
  { result = DELIVERED, deliveryTimeoutMs = 60_000 } = {},
) {
  let given = Infinity
  const post = {
    send: (...[, , , , options]: Parameters<Post['send']>) => {
      given = options?.timeoutMs ?? Infinity
      return Promise.resolve(result)
    },
  } as unknown as Post
  let counted = 0
  const settings = {
    deliveryTimeoutMs,
    headerNames: headerNames('X-Svc-'),
    transforms: TRANSFORMS,
    defaultTransform: null,
    health: { attempted: () => counted++ },
    log: { warn: () => {} },
  } as unknown as AttemptSettings
  const webhook = {
    id: 'w',
    url: 'https://receiver.example/',
    secret: 'whsec_AAAA',
    previousSecrets: [],
    headers: null,
    fields: null,
    transform,
    timeoutMs,
  } as unknown as WebhookForDelivery
  const { signal } = new AbortController()
  const step = await makeAttempt(post, settings, webhook, delivery, signal)
  return { step, given, counts: counted > 0 }
}

const timeOf = async (timeoutMs: number | null, transform: string | null): Promise<number> =>
  (await attempt({ timeoutMs, transform })).given

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

t.test('the shorter one of two time-outs applies to a transform too', async (t) => {
  const short = { deliveryTimeoutMs: 1000 }
  const { given } = await attempt({ timeoutMs: 40_000, transform: 'slow' }, short)
  t.ok(given <= 1000, String(given))
})

t.test(
  'a time-out counts for the receiver unless the transform took most of the time',
  async (t) => {
    const result: PostResult = { ...DELIVERED, statusCode: null, failure: 'timeout' }
    for (const [timeoutMs, transform, counts] of [
      [40_000, null, true],
      [40_000, 'slow', true],
      [70, 'slow', false],
    ] as const) {
      const made = await attempt({ timeoutMs, transform }, { result })
      t.equal(made.counts, counts, `${transform} of ${timeoutMs} ms`)
    }
  },
)

t.test("a transform's promise may be of any kind, and has the time of the attempt", async (t) => {
  const { step } = await attempt({ timeoutMs: 20, transform: 'endless' })
  t.match(step, { kind: 'failed', detail: { error: 'transform' } })
})
