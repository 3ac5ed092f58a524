import t from 'tap'
import {
  errorOf,
  outcomeOfAnswer,
  type OutcomeRules,
} from '../../../../packages/webhooks/src/outbound/delivery/attempt.ts'
import type {
  Failure,
  PostResult,
} from '../../../../packages/webhooks/src/outbound/http/post-result.ts'

const now = new Date('2024-05-01T12:00:00.000Z')
const rules = { retryDelayMaxSeconds: 3600, deactivateOnGone: false }

function answer(statusCode: number | null, more: Partial<PostResult> = {}): PostResult {
  return { statusCode, failure: null, retryAfter: null, responseBody: null, ...more }
}

const record = { attempt: 1 }

/** The outcome without the record, and the class of the error. */
function stepOf(result: PostResult, given: OutcomeRules, at: Date) {
  const { detail, ...step } = outcomeOfAnswer(result, record, given, at)
  t.equal(detail, record)
  const { output, ...rest } = { output: record, ...step }
  t.equal(output, record)
  const error = errorOf(result)
  return error === null ? rest : { ...rest, error }
}

t.test('any 2xx is a delivery', async (t) => {
  for (const status of [200, 201, 202, 204, 299])
    t.same(stepOf(answer(status), rules, now), { kind: 'completed' })
})

t.test('any other answer is a failure, and a redirect is one of its own kind', async (t) => {
  for (const status of [400, 401, 404, 410, 418, 429, 499, 500, 503, 599, 600, 999]) {
    t.same(stepOf(answer(status), rules, now), { kind: 'failed', error: 'http' }, String(status))
  }
  for (const status of [300, 301, 302, 303, 307, 308]) {
    t.same(
      stepOf(answer(status), rules, now),
      { kind: 'failed', error: 'redirect' },
      String(status),
    )
  }
})

t.test('a broken connection is a failure, whatever status came before', async (t) => {
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
    t.same(stepOf(answer(null, { failure }), rules, now), { kind: 'failed', error: failure })
    t.same(stepOf(answer(200, { failure }), rules, now), { kind: 'failed', error: failure })
  }
})

t.test('a 410 ends a delivery at once only with deactivateOnGone', async (t) => {
  t.same(stepOf(answer(410), { ...rules, deactivateOnGone: true }, now), {
    kind: 'rejected',
    error: 'http',
  })
  t.equal(stepOf(answer(404), { ...rules, deactivateOnGone: true }, now).kind, 'failed')
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
          stepOf(answer(status, { retryAfter }), rules, now),
          expected,
          `${status} ${retryAfter}`,
        )
      }
    }
  },
)

t.test('Retry-After beside any other status is ignored', async (t) => {
  for (const status of [301, 400, 500, 502])
    t.notOk('retryAfterMs' in stepOf(answer(status, { retryAfter: '9' }), rules, now))
})
