// In a process of its own: the SDK of OpenTelemetry is registered once, for the whole process.
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { EventHandler } from '@svc/core'
import t from 'tap'
import { registerSdk } from '../../support/open-telemetry.ts'
import { createSubscriptionWorker } from '../../../packages/core/src/events/subscription-worker.ts'
import { startHost } from '../support/host.ts'

const sdk = registerSdk({ meters: false })
const tracer = trace.getTracer('the host')

const linksOf = (span: { links: { context: { spanId: string } }[] }) =>
  span.links.map((link) => link.context.spanId)

t.test('the trace of a request goes on in the handler of a subscription', async (t) => {
  const { app } = await startHost(t, {
    setUp: ({ svc }) =>
      svc.events.subscribe('order.placed', () => tracer.startSpan('ship').end(), {
        subscription: 'ship-orders',
      }),
  })
  const request = tracer.startSpan('POST /orders')
  const { id } = await context.with(trace.setSpan(context.active(), request), () =>
    app.svc.transaction((db) =>
      app.svc.events.publish('order.placed', { id: 7 }, { db, tenant: 'acme' }),
    ),
  )
  request.end()
  const [published] = await sdk.named('publish order.placed')
  const [processed] = await sdk.named('process ship-orders')
  const [shipped] = await sdk.named('ship')

  t.match(published, {
    kind: SpanKind.PRODUCER,
    parentSpanContext: { spanId: request.spanContext().spanId },
    attributes: {
      'messaging.system': 'svc',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'order.placed',
      'messaging.message.id': id,
      'svc.tenant': 'acme',
      'svc.duplicate': false,
    },
  })
  t.match(processed, {
    kind: SpanKind.CONSUMER,
    parentSpanContext: { spanId: published!.spanContext().spanId },
    attributes: {
      'messaging.system': 'svc',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'order.placed',
      'messaging.destination.subscription.name': 'ship-orders',
      'messaging.message.id': id,
      'svc.attempt': 1,
      'svc.tenant': 'acme',
      'svc.outcome': 'completed',
    },
  })
  t.same(linksOf(processed!), [published!.spanContext().spanId])
  t.match(shipped, { parentSpanContext: { spanId: processed!.spanContext().spanId } })
  const traceIds = [request, published!, processed!, shipped!].map((s) => s.spanContext().traceId)
  t.equal(new Set(traceIds).size, 1, 'one trace')
})

t.test(
  'a handler that throws ends its span with the error; the next attempt is linked to it',
  async (t) => {
    let runs = 0
    const { app } = await startHost(t, {
      setUp: ({ svc }) =>
        svc.events.subscribe('order.paid', () => {
          if (++runs === 1) throw new RangeError('out of stock')
        }),
    })
    await app.svc.events.publish('order.paid', {})
    const [published] = await sdk.named('publish order.paid')
    const [first, second] = await sdk.named('process order.paid', 2)

    t.match(first, {
      status: { code: SpanStatusCode.ERROR, message: 'out of stock' },
      attributes: { 'svc.outcome': 'failed', 'error.type': 'RangeError', 'svc.attempt': 1 },
      events: [{ name: 'exception' }],
    })
    t.match(second, { attributes: { 'svc.outcome': 'completed', 'svc.attempt': 2 } })
    const ids = [published!, first!].map((span) => span.spanContext().spanId)
    t.same(linksOf(first!), ids.slice(0, 1))
    t.same(linksOf(second!), ids)
    t.equal(second!.spanContext().traceId, published!.spanContext().traceId)
  },
)

t.test('the trace goes on in a process that fetches the job later', async (t) => {
  const publisher = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: ({ svc }) => svc.events.subscribe('order.sent', () => {}),
  })
  await publisher.app.svc.events.publish('order.sent', {})
  const [published] = await sdk.named('publish order.sent')
  await startHost(t, {
    database: publisher.database,
    setUp: ({ svc }) => svc.events.subscribe('order.sent', () => {}),
  })
  const [processed] = await sdk.named('process order.sent')
  t.same(linksOf(processed!), [published!.spanContext().spanId])
  t.match(processed, { parentSpanContext: published!.spanContext() })
})

t.test('a handler that is aborted as the process closes has not failed', async (t) => {
  const begun = Promise.withResolvers<void>()
  const handler: EventHandler = (_payload, { signal }) => {
    begun.resolve()
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  }
  const { app, database, log } = await startHost(t, {
    setUp: (host, core) =>
      core.work({
        ...createSubscriptionWorker(
          handler,
          { subscription: 'slow', idempotent: true, concurrency: 1, timeoutSeconds: 60 },
          host.log,
        ),
        drainSeconds: 0.05,
      }),
  })
  const publisher = await startHost(t, {
    database,
    core: { worker: { enabled: false } },
    setUp: ({ svc }) => svc.events.subscribe('order.slow', () => {}, { subscription: 'slow' }),
  })
  await publisher.app.svc.events.publish('order.slow', {})
  await begun.promise
  await app.close()
  const [processed] = await sdk.named('process slow')
  t.match(processed, {
    status: { code: SpanStatusCode.UNSET },
    attributes: { 'svc.outcome': 'postponed', 'svc.attempt': 1 },
  })
  t.strictSame(
    log.filter(({ level }) => Number(level) >= 50),
    [],
  )
})

t.test('a publish that is refused ends its span with the code of the error', async (t) => {
  const { app } = await startHost(t)
  const noTransaction = {
    query: () => Promise.reject(new Error('no transaction')),
  }
  await t.rejects(app.svc.events.publish('order.lost', {}, { db: noTransaction }))
  const [published] = await sdk.named('publish order.lost')
  t.match(published, {
    status: { code: SpanStatusCode.ERROR },
    attributes: { 'error.type': String },
  })
})
