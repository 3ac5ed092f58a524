import {
  spanIdsOf,
  traceContextOf,
  traceHeadersOf,
} from '../../../packages/core/src/telemetry/trace-context.ts'
import t from 'tap'

const ids = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  traceFlags: 1,
}
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

t.test('a trace context survives as traceparent and tracestate', async (t) => {
  t.equal(traceContextOf(ids), traceparent)
  t.equal(traceContextOf({ ...ids, traceState: 'a=1,b=2' }), `${traceparent} a=1,b=2`)
  for (const traceState of [undefined, 'a=1,b=2']) {
    t.strictSame(spanIdsOf(traceContextOf({ ...ids, traceState })), { ...ids, traceState })
  }
  t.strictSame(traceHeadersOf(traceparent), { traceparent })
  t.strictSame(traceHeadersOf(`${traceparent} a=1`), { traceparent, tracestate: 'a=1' })
})

t.test('a text that is no trace context is ignored', async (t) => {
  for (const text of [
    '',
    'x',
    `${traceparent}0`,
    traceparent.toUpperCase(),
    `01${traceparent.slice(2)}`,
  ]) {
    t.equal(spanIdsOf(text), null, text)
  }
})
