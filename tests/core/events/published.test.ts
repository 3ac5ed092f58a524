import t from 'tap'
import { storedEventId } from '../../../packages/core/src/events/event-id.ts'
import { publishedFrom, publishedOnceFrom } from '../../../packages/core/src/events/published.ts'
import type { Written } from '../../../packages/core/src/events/publish-statement.ts'

const retry = {
  maxAttempts: 3,
  retryDelaySeconds: 1,
  retryBackoff: true,
  retryDelayMaxSeconds: 60,
}
const event = (id: string, tenant: string | null = null) => ({
  name: 'order.created',
  id: storedEventId(tenant, id),
  payload: `{"id":"${id}"}`,
})
const written = (some: Partial<Written>): Written => ({
  created: [],
  jobs: 0,
  queues: [],
  restricted: [],
  claimed: [],
  askedAt: 5,
  publishedAt: 1_000,
  madeAt: 1_500,
  startedOn: '1970-01-01 00:00:01+00',
  transactionId: '7',
  ...some,
})

t.test('results of a publish name duplicates, and ids without the tenant', async (t) => {
  const events = [event('a', 'acme'), event('b')]
  t.strictSame(publishedFrom(written({ created: [2] }), events, retry).results, [
    { id: 'a', duplicate: true },
    { id: 'b', duplicate: false },
  ])
})

t.test('results of deduplicated events are null where the key was taken', async (t) => {
  const events = [event('a'), event('b')]
  t.strictSame(publishedOnceFrom(written({ created: [1] }), events, retry).results, [
    { id: 'a', duplicate: false },
    null,
  ])
})

t.test('claimed jobs are grouped by queue, and have their event', async (t) => {
  const events = [event('a'), { ...event('b'), traceContext: '00-1-2-01' }]
  const { claimed } = publishedFrom(
    written({
      created: [1, 2],
      claimed: [
        { id: 'job 1', queue: 'deliveries', recipient: 'webhook', version: 'v1', event: 2 },
        { id: 'job 2', queue: 'mail', recipient: null, version: null, event: 1 },
        { id: 'job 3', queue: 'deliveries', recipient: 'other', version: null, event: 1 },
      ],
    }),
    events,
    retry,
  )
  t.strictSame(
    [...claimed].map(([queue, jobs]) => [queue, jobs.map(({ id }) => id)]),
    [
      ['deliveries', ['job 1', 'job 3']],
      ['mail', ['job 2']],
    ],
  )
  const [delivery] = claimed.get('deliveries') ?? []
  t.match(delivery, {
    data: { event: 'order.created', eventId: 'b', recipient: 'webhook', deliveryId: 'job 1' },
    attempt: 1,
    attemptsLeft: 2,
    group: 'webhook',
    startedOn: '1970-01-01 00:00:01+00',
    recipient: { version: 'v1', askedAt: 5 },
    published: { payload: '{"id":"b"}', publishedAt: new Date(1_000), traceContext: '00-1-2-01' },
  })
  const [mail] = claimed.get('mail') ?? []
  t.notOk(
    Object.hasOwn(mail?.data as object, 'recipient'),
    'a job of a subscription has no recipient',
  )
})

t.test('a first attempt is the last where a queue allows one attempt', async (t) => {
  const claimed = [{ id: 'job', queue: 'mail', recipient: null, version: null, event: 1 }]
  const published = publishedFrom(written({ created: [1], claimed }), [event('a')], {
    ...retry,
    maxAttempts: 1,
  })
  t.equal(published.claimed.get('mail')?.[0]?.attemptsLeft, 0)
})

t.test('waiting jobs are notified by queue, and restricted groups once each', async (t) => {
  const { waiting, jobs, unreadable } = publishedFrom(
    written({
      jobs: 4,
      queues: ['mail'],
      restricted: [
        { queue: 'deliveries', recipient: 'a' },
        { queue: 'deliveries', recipient: 'b' },
        { queue: 'deliveries', recipient: 'a' },
      ],
    }),
    [],
    retry,
  )
  t.equal(jobs, 4)
  t.strictSame(unreadable, [])
  t.strictSame(waiting.queues, ['mail'])
  t.strictSame([...waiting.restricted], [['deliveries', ['a', 'b']]])
})
