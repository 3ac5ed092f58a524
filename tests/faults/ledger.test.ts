// promise: In the same runs order, rates, caps, limits and quotas hold, revoked keys stay refused, and statistics equal the log; some faults are left out of single checks
import t from 'tap'
import {
  newLedger,
  LIMITS,
  type Afterwards,
  type Attempt,
  type Ledger,
  type WebhookName,
} from './ledger.ts'
import { violations } from './violations.ts'

const SEED = 7
const quiet: Afterwards = {
  handled: [],
  stored: [],
  orders: [],
  waiting: 0,
  deadLetters: 0,
  logged: [],
  statistics: [],
}

const attempt = (event: string, more: Partial<Attempt> = {}): Attempt => ({
  webhook: 'plain',
  event,
  deliveryId: `delivery-${event}`,
  from: 0,
  until: 10,
  end: 'answered',
  ...more,
})
const handled = (payload_id: string, subscription = 'order.created', event_id = payload_id) => ({
  subscription,
  name: subscription === 'order.created' ? subscription : 'sender.sent',
  event_id,
  payload_id,
})
const times = <Made>(count: number, make: (index: number) => Made): Made[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** The step `a` was delivered to the three limited webhooks, and `b` after it. */
const steps = (orderedFrom: number): Attempt[] =>
  (['ordered', 'rated', 'capped'] as WebhookName[]).flatMap((webhook) => [
    attempt('a', { webhook, from: 100, until: 110 }),
    attempt('b', { webhook, from: orderedFrom, until: orderedFrom + 10 }),
  ])

/** Attempts of a limited webhook, `apartMs` apart. */
const ofWebhook = (webhook: WebhookName, count: number, apartMs: number, tookMs = 1) =>
  times(count, (n) =>
    attempt(`${n}`, { webhook, from: n * apartMs, until: n * apartMs + tookMs, end: 'refused' }),
  )
const admitted = (count: number, apartMs: number) =>
  times(count, (n) => ({ from: n * apartMs, until: n * apartMs + 5 }))
const older = (from: number) => [{ kind: 'older version' as const, from, until: Infinity }]
const crash = [{ kind: 'crash' as const, from: 100, until: 200 }]
const sent = {
  sent: new Set(['s']),
  accepted: new Set(['s']),
}
const { key, rated, capped, quota } = LIMITS

const cases: [string, Partial<Ledger>, Partial<Afterwards>, RegExp[]][] = [
  ['nothing was promised', {}, {}, []],
  [
    'a publish came once and was handled',
    { published: new Set(['a']), attempts: [attempt('a')] },
    { handled: [handled('a')] },
    [],
  ],
  [
    'a publish was neither delivered nor handled',
    { published: new Set(['a']) },
    {},
    [/not delivered to plain/, /did not reach order.created/],
  ],
  [
    'a publish was attempted, and its receiver never answered with 200',
    { published: new Set(['a']), attempts: [attempt('a', { end: 'refused' })] },
    { handled: [handled('a')] },
    [/not delivered to plain/],
  ],
  ['one delivery came twice', { attempts: [attempt('a'), attempt('a')] }, {}, []],
  [
    'an event was delivered as two deliveries',
    { attempts: [attempt('a'), attempt('a', { deliveryId: 'other' })] },
    {},
    [/as 2 deliveries/],
  ],
  [
    'an order that was rolled back came',
    { attempts: [attempt('order-7-1')] },
    {},
    [/was rolled back/],
  ],
  [
    'an order that was committed did not come',
    {},
    { orders: ['order-7-1'] },
    [/committed and not delivered/],
  ],
  ['an order of another schedule came late', { attempts: [attempt('order-6-1')] }, {}, []],
  [
    'an event was delivered, and the log has no row of it',
    { attempts: [attempt('a')] },
    { logged: ['delivery-b'] },
    [/the log does not say that a was delivered to plain/],
  ],
  ['steps came in their order', { steps: ['a', 'b'], attempts: steps(110) }, {}, []],
  [
    'a step was attempted before the one before it was delivered',
    { steps: ['a', 'b'], attempts: steps(109) },
    {},
    [/b was attempted before a was delivered/],
  ],
  [
    'steps came out of order before an older version came',
    { steps: ['a', 'b'], attempts: steps(109), disturbances: older(110) },
    {},
    [/b was attempted before a was delivered/],
  ],
  [
    'steps came out of order beside an older version',
    { steps: ['a', 'b'], attempts: steps(109), disturbances: older(50) },
    {},
    [],
  ],
  [
    'a step did not come to one of three webhooks',
    { steps: ['a'], attempts: steps(200).filter(({ webhook }) => webhook !== 'rated') },
    {},
    [/a was not delivered to rated/],
  ],
  ['a rate was kept', { attempts: ofWebhook('rated', 50, 300) }, {}, []],
  [
    'a rate was passed',
    { attempts: ofWebhook('rated', rated.limit + 1, 100) },
    {},
    [/11 attempts within a span/],
  ],
  [
    'a rate was passed when Postgres had forgotten its last permits',
    { attempts: ofWebhook('rated', rated.limit + 1, 100), disturbances: crash },
    {},
    [],
  ],
  ['attempts followed each other', { attempts: ofWebhook('capped', 9, 100, 190) }, {}, []],
  [
    'more ran at a time than a webhook takes',
    { attempts: ofWebhook('capped', capped + 1, 100, 500) },
    {},
    [/3 attempts at a time/],
  ],
  ['a key kept to its limit', { limited: admitted(50, 260) }, {}, []],
  [
    'a key passed its limit',
    { limited: admitted(key.limit + 1, 200) },
    {},
    [/9 requests passed a limit/],
  ],
  ['a quota was passed', { admitted: quota + 1 }, {}, [/26 requests passed a quota/]],
  ['a revoked key was admitted', { admittedRevoked: new Set(['k']) }, {}, [/revoked key/]],
  [
    'a lost revocation is lost in all hosts',
    { isLossy: true, hosts: 2, admittedBy: new Map([['k', 2]]) },
    {},
    [],
  ],
  [
    'a lost revocation is lost in one host of two',
    { isLossy: true, hosts: 2, admittedBy: new Map([['k', 1]]) },
    {},
    [/revoked key/],
  ],
  [
    'a publish was lost with its primary',
    { isLossy: true, published: new Set(['a']), attempts: [attempt('a')] },
    {},
    [],
  ],
  [
    'the next primary has a publish that never came',
    { isLossy: true, published: new Set(['a']) },
    { stored: ['a'] },
    [/not delivered to plain/, /did not reach order.created/],
  ],
  [
    'a host went on late',
    { moves: [{ kind: 'switchover', host: 1, publishedMs: 10_001, deliveredMs: 10_000 }] },
    {},
    [/host 1 published 10001 ms/],
  ],
  ['a signature was wrong', { forged: 1 }, {}, [/signature/]],
  [
    'a request was accepted and handled by one subscription of two',
    sent,
    { handled: [handled('s', 'sender.sent')] },
    [/s did not reach second/],
  ],
  [
    'a request became two events',
    sent,
    { handled: ['1', '2'].flatMap((id) => both((name) => handled('s', name, id))) },
    [/sender.sent became 2 events/, /second became 2 events/],
  ],
  [
    'an event came of no request',
    {},
    { handled: [handled('s', 'sender.sent')] },
    [/nobody sent it/],
  ],
  [
    'the statistics are those of the log',
    {},
    { statistics: [{ webhook: 'w', status: 'failed', logged: 2, counted: 2 }] },
    [],
  ],
  [
    'an attempt is logged and not counted',
    {},
    { statistics: [{ webhook: 'w', status: 'failed', logged: 2, counted: 1 }] },
    [/2 attempts are logged as failed, 1 are counted/],
  ],
  [
    'an attempt of an older version is not counted',
    { disturbances: older(0) },
    { statistics: [{ webhook: 'w', status: 'failed', logged: 2, counted: 1 }] },
    [],
  ],
  [
    'more attempts are counted than there are beside an older version',
    { disturbances: older(0) },
    { statistics: [{ webhook: 'w', status: 'failed', logged: 1, counted: 2 }] },
    [/1 attempts are logged as failed, 2 are counted/],
  ],
  ['a job waits for ever', {}, { waiting: 1 }, [/1 jobs wait/]],
  ['a job died', {}, { deadLetters: 1 }, [/dead letters/]],
]

function both<Row>(make: (subscription: string) => Row): Row[] {
  return ['sender.sent', 'second'].map((name) => make(name))
}

for (const [title, ledger, afterwards, expected] of cases) {
  t.test(`the ledger detects: ${title}`, async (t) => {
    // Unless a case says otherwise, the log has all that was answered.
    const logged = (ledger.attempts ?? []).map(({ deliveryId }) => deliveryId)
    const found = violations({ ...newLedger(SEED), ...ledger }, { ...quiet, logged, ...afterwards })
    t.equal(found.length, expected.length, found.join('; '))
    for (const [index, text] of expected.entries()) t.match(found[index], text)
  })
}
