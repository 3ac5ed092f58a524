// In a process of its own: the SDK of OpenTelemetry is registered once, for the whole process.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { context, createContextKey, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { registerSdk } from '../../support/open-telemetry.ts'
import { startHost } from '../support/host.ts'

const sdk = registerSdk({ meters: false })
const tracer = trace.getTracer('the host')

const idOf = (span: { spanContext: () => { spanId: string } } | undefined) =>
  span?.spanContext().spanId ?? 'none'
const linksOf = (span: { links: { context: { spanId: string } }[] } | undefined) =>
  span?.links.map((link) => link.context.spanId)

t.test(
  'the trace of a request goes on in the attempts of a delivery, and at its receiver',
  async (t) => {
    const receiver = await openReceiver(t, { answer: [503, 204] })
    const { app, register } = await startHost(t, { propagateTraceContext: true })
    const webhook = await register(receiver.url)
    const request = tracer.startSpan('POST /orders')
    await context.with(trace.setSpan(context.active(), request), () =>
      app.svc.transaction((db) => app.svc.events.publish('order.created', { id: 7 }, { db })),
    )
    request.end()
    const [published] = await sdk.named('publish order.created')
    const [first, second] = await sdk.named('deliver order.created', 2)

    t.match(first, {
      kind: SpanKind.CLIENT,
      status: { code: SpanStatusCode.ERROR },
      parentSpanContext: { spanId: idOf(published) },
      attributes: {
        'messaging.system': 'svc',
        'messaging.operation.name': 'deliver',
        'messaging.destination.name': 'order.created',
        'http.request.method': 'POST',
        'http.response.status_code': 503,
        'url.scheme': 'http',
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(receiver.url).port),
        'error.type': '503',
        'svc.webhook.id': webhook.id,
        'svc.attempt': 1,
        'svc.outcome': 'failed',
      },
    })
    t.match(second, {
      status: { code: SpanStatusCode.UNSET },
      parentSpanContext: { spanId: idOf(published) },
      attributes: {
        'http.request.resend_count': 1,
        'http.response.status_code': 204,
        'svc.attempt': 2,
        'svc.outcome': 'completed',
        'svc.delivery.id': first?.attributes['svc.delivery.id'],
      },
    })
    t.notOk('error.type' in second!.attributes)
    t.same(linksOf(first), [idOf(published)])
    t.same(linksOf(second), [idOf(published), idOf(first)], 'linked to the attempt before')
    const { traceId } = request.spanContext()
    t.same(
      receiver.received.map(({ headers }) => headers['traceparent']),
      [first, second].map((span) => `00-${traceId}-${idOf(span)}-01`),
      'the receiver gets the context of the attempt, in the same trace',
    )
  },
)

t.test('a delivery has trace headers only if the host sets the option', async (t) => {
  const receiver = await openReceiver(t)
  const { app, register } = await startHost(t)
  await register(receiver.url)
  // What instrumentations of undici ask before they make a span and send their own header.
  const suppressed = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')
  const seen: unknown[] = []
  const onRequest = () => void seen.push(context.active().getValue(suppressed))
  subscribe('undici:request:create', onRequest)
  t.teardown(() => unsubscribe('undici:request:create', onRequest))
  await app.svc.events.publish('order.shipped', {})
  await receiver.waitFor(1)
  t.notMatch(receiver.received[0]?.headers, { traceparent: String })
  t.same(seen, [true])
})

t.test('a webhook keeps a header of its own that is named traceparent', async (t) => {
  const receiver = await openReceiver(t)
  const { app } = await startHost(t, { propagateTraceContext: true })
  const headers = { Traceparent: 'its own' }
  await app.svc.webhooks.register({ url: receiver.url, events: ['order.created'], headers })
  await app.svc.events.publish('order.created', {})
  await receiver.waitFor(1)
  t.match(receiver.received[0]?.headers, { traceparent: 'its own' })
})

t.test('an attempt that a 410 ends for good has the outcome dead', async (t) => {
  const receiver = await openReceiver(t, { answer: [410] })
  const { app, register } = await startHost(t, {
    allowedEvents: ['order.gone'],
    deactivateOnGone: true,
  })
  await register(receiver.url)
  await app.svc.events.publish('order.gone', {})
  const [delivered] = await sdk.named('deliver order.gone')
  t.match(delivered, {
    attributes: { 'svc.outcome': 'dead', 'svc.attempt': 1, 'error.type': '410' },
  })
})

t.test('a test delivery is in the trace of the request that sent it', async (t) => {
  const receiver = await openReceiver(t)
  const { app, register } = await startHost(t)
  const { id } = await register(receiver.url)
  const request = tracer.startSpan('POST /test')
  await context.with(trace.setSpan(context.active(), request), () => app.svc.webhooks.test({ id }))
  const [delivered] = await sdk.named('deliver webhook.test')
  t.match(delivered, { parentSpanContext: { spanId: idOf(request) } })
})

t.test('an attempt that the host makes itself is a span of the same name', async (t) => {
  const receiver = await openReceiver(t)
  const { app, register } = await startHost(t, { propagateTraceContext: true })
  const { id: webhookId } = await register(receiver.url)
  const deliveryId = '018f0000-0000-7000-8000-000000000001'
  await app.svc.actions.call('__svc.webhooks.deliver', {
    webhookId,
    event: 'order.made',
    payload: {},
    deliveryId,
    attempt: 1,
  })
  const [delivered] = await sdk.named('deliver order.made')
  t.match(delivered, {
    kind: SpanKind.CLIENT,
    attributes: { 'svc.delivery.id': deliveryId, 'http.response.status_code': 200 },
  })
  t.match(receiver.received[0]?.headers, { traceparent: new RegExp(idOf(delivered)) })
})
