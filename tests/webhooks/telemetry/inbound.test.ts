// In a process of its own: the SDK of OpenTelemetry is registered once, for the whole process.
import { propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import t from 'tap'
import { registerSdk } from '../../support/open-telemetry.ts'
import { startHost } from '../support/host.ts'

const sdk = registerSdk()

t.test('a request of a source is a span, within which its event is published', async (t) => {
  const { app } = await startHost(t, {
    inbound: {
      shop: {
        path: '/hooks/shop',
        publishAs: 'shop.order',
        verify: (request) => {
          if (request.headers['x-fails']) throw new Error('out of order')
          return request.headers['x-token'] === 'right'
        },
        deduplicationKey: (request) => String(request.headers['x-id']),
      },
    },
  })
  const send = (headers: Record<string, string>, payload: string = '{}') =>
    app.inject({
      method: 'POST',
      url: '/hooks/shop',
      payload,
      headers: { 'content-type': 'application/json', 'x-id': '1', ...headers },
    })
  const genuine = await send({ 'x-token': 'right' })
  const [received] = await sdk.named('receive shop')
  const [published] = await sdk.named('publish shop.order')
  t.match(received, {
    kind: SpanKind.SERVER,
    status: { code: SpanStatusCode.UNSET },
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/hooks/shop',
      'svc.source': 'shop',
      'svc.outcome': 'accepted',
      'messaging.message.id': genuine.json().eventId,
    },
  })
  t.match(published, { parentSpanContext: { spanId: received!.spanContext().spanId } })

  await send({ 'x-token': 'right' })
  await send({ 'x-token': 'wrong' })
  await send({ 'x-fails': 'yes' })
  const [, repeat, forged, failed] = await sdk.named('receive shop', 4)
  t.match(repeat, { attributes: { 'svc.outcome': 'duplicate' } })
  t.match(forged, {
    status: { code: SpanStatusCode.UNSET },
    attributes: { 'svc.outcome': 'refused', 'http.response.status_code': 401 },
  })
  t.match(failed, {
    status: { code: SpanStatusCode.ERROR },
    attributes: { 'svc.outcome': 'failed', 'error.type': String },
  })
  await send({ 'x-token': 'right' }, '{')
  const points = await sdk.points('svc.inbound.requests')
  t.strictSame(
    new Map(points.map(({ attributes, value }) => [attributes['svc.outcome'], value])),
    new Map([
      ['accepted', 1],
      ['duplicate', 1],
      ['refused', 1],
      ['failed', 1],
      ['malformed', 1],
    ]),
  )
  t.ok(points.every(({ attributes }) => attributes['svc.source'] === 'shop'))
})

t.test(
  "without a span of the host's the trace of the sender goes on, as the propagator reads it",
  async (t) => {
    const { app } = await startHost(t, {
      inbound: { till: { path: '/hooks/till', publishAs: 'till.sale', verify: () => true } },
    })
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    propagation.setGlobalPropagator({
      inject: () => {},
      fields: () => ['x-trace'],
      extract: (context, carrier: Record<string, string>) =>
        trace.setSpanContext(context, {
          traceId: carrier['x-trace'] ?? '',
          spanId: '00f067aa0ba902b7',
          traceFlags: 1,
        }),
    })
    await app.inject({
      method: 'POST',
      url: '/hooks/till',
      payload: {},
      headers: { 'x-trace': traceId },
    })
    const [received] = await sdk.named('receive till')
    t.equal(received!.spanContext().traceId, traceId)
  },
)
