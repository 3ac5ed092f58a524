import t from 'tap'
import { newLedger, violations, type Afterwards, type Ledger } from './ledger.ts'

const quiet: Afterwards = { handled: [], orders: [], waiting: 0, deadLetters: 0, quota: 5 }
const handled = (name: string, payload_id: string, event_id = payload_id) => ({
  name,
  event_id,
  payload_id,
})

const cases: [string, Partial<Ledger>, Partial<Afterwards>, number][] = [
  ['nothing was promised', {}, {}, 0],
  [
    'a publish came once and was handled',
    { published: new Set(['a']), delivered: new Map([['a', ['1']]]) },
    { handled: [handled('order.created', 'a')] },
    0,
  ],
  ['a publish was neither delivered nor handled', { published: new Set(['a']) }, {}, 2],
  ['one delivery came twice', { delivered: new Map([['a', ['1', '1']]]) }, {}, 0],
  ['an event was delivered as two deliveries', { delivered: new Map([['a', ['1', '2']]]) }, {}, 1],
  ['an order that was rolled back came', { delivered: new Map([['order-1', ['1']]]) }, {}, 1],
  ['an order that was committed did not come', {}, { orders: ['order-1'] }, 1],
  ['a request was accepted and not handled', { accepted: new Set(['s']) }, {}, 1],
  [
    'a request became two events',
    { accepted: new Set(['s']) },
    { handled: [handled('sender.sent', 's', '1'), handled('sender.sent', 's', '2')] },
    1,
  ],
  ['a quota was passed', { admitted: 6 }, {}, 1],
  ['a revoked key was admitted', { admittedRevoked: 1 }, {}, 1],
  ['a signature was wrong', { forged: 1 }, {}, 1],
  ['a job waits for ever', {}, { waiting: 1 }, 1],
  ['a job died', {}, { deadLetters: 1 }, 1],
]

for (const [title, ledger, afterwards, expected] of cases) {
  t.test(`the ledger tells: ${title}`, async (t) => {
    const found = violations({ ...newLedger(), ...ledger }, { ...quiet, ...afterwards })
    t.equal(found.length, expected, found.join('; '))
  })
}
