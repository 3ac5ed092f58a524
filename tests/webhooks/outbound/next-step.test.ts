import t from 'tap'
import {
  nextStep,
  type Answer,
  type Failure,
} from '../../../packages/webhooks/src/outbound/delivery/next-step.ts'

const now = new Date('2024-05-01T12:00:00.000Z')
const rules = { retryDelayMaxSeconds: 3600, deactivateOnGone: false }

function answer(statusCode: number | null, more: Partial<Answer> = {}): Answer {
  return { statusCode, failure: null, retryAfter: null, responseBody: null, ...more }
}

t.test('any 2xx is a delivery', async (t) => {
  for (const status of [200, 201, 202, 204, 299])
    t.same(nextStep(answer(status), rules, now), { kind: 'delivered' })
})

t.test('any other answer is a failure, and a redirect is told apart', async (t) => {
  for (const status of [400, 401, 404, 410, 418, 429, 499, 500, 503, 599, 600, 999]) {
    t.same(nextStep(answer(status), rules, now), { kind: 'failed', error: 'http' }, String(status))
  }
  for (const status of [300, 301, 302, 303, 307, 308]) {
    t.same(
      nextStep(answer(status), rules, now),
      { kind: 'failed', error: 'redirect' },
      String(status),
    )
  }
})

t.test('what broke the exchange is its error, whatever status came before', async (t) => {
  const failures: Failure[] = [
    'dns',
    'refused',
    'reset',
    'timeout',
    'tls',
    'blocked',
    'too-large',
    'http',
  ]
  for (const failure of failures) {
    t.same(nextStep(answer(null, { failure }), rules, now), { kind: 'failed', error: failure })
    t.same(nextStep(answer(200, { failure }), rules, now), { kind: 'failed', error: failure })
  }
})

t.test('a 410 ends it at once only where that is asked for', async (t) => {
  t.same(nextStep(answer(410), { ...rules, deactivateOnGone: true }, now), {
    kind: 'gone',
    error: 'http',
  })
  t.equal(nextStep(answer(404), { ...rules, deactivateOnGone: true }, now).kind, 'failed')
})

t.test(
  'Retry-After is honoured in seconds and as each form of an HTTP date, within the longest delay',
  async (t) => {
    const cases: [string, string | null][] = [
      ['120', '2024-05-01T12:02:00.000Z'],
      [' 120 ', '2024-05-01T12:02:00.000Z'],
      ['3600', '2024-05-01T13:00:00.000Z'],
      ['3601', '2024-05-01T13:00:00.000Z'],
      ['99999999999999999999999999', '2024-05-01T13:00:00.000Z'],
      ['Wed, 01 May 2024 12:05:00 GMT', '2024-05-01T12:05:00.000Z'],
      ['Wednesday, 01-May-24 12:05:00 GMT', '2024-05-01T12:05:00.000Z'],
      ['Wed May  1 12:05:00 2024', '2024-05-01T12:05:00.000Z'],
      ['Thu, 02 May 2024 12:00:00 GMT', '2024-05-01T13:00:00.000Z'],
      ['Wed, 01 May 2024 11:59:59 GMT', null],
      ['0', null],
      ['-5', null],
      ['1.5', null],
      ['1e3', null],
      ['0x10', null],
      ['', null],
      ['soon', null],
      ['2024-05-01T12:05:00Z', null],
      ['Wed, 01 Foo 2024 12:05:00 GMT', null],
      ['Wed, 01 May 2024 99:99:99 GMT', null],
    ]
    for (const status of [429, 503]) {
      for (const [retryAfter, at] of cases) {
        const expected = {
          kind: 'failed',
          error: 'http',
          ...(at === null ? {} : { retryAfterMs: Date.parse(at) - now.getTime() }),
        }
        t.same(
          nextStep(answer(status, { retryAfter }), rules, now),
          expected,
          `${status} ${retryAfter}`,
        )
      }
    }
  },
)

t.test('Retry-After beside any other status is ignored', async (t) => {
  for (const status of [301, 400, 500, 502])
    t.notOk('retryAfterMs' in nextStep(answer(status, { retryAfter: '9' }), rules, now))
})
