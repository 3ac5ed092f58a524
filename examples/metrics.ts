// Metrics for Prometheus, and a route for each probe of a load balancer.
//   npm install fastify @svc/webhooks @opentelemetry/api @opentelemetry/sdk-metrics @opentelemetry/exporter-prometheus
//   DATABASE_URL=postgres://… node metrics.ts
//   curl localhost:3000/ready; curl localhost:9464/metrics
import { metrics } from '@opentelemetry/api'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { svcWebhooks } from '@svc/webhooks'
import Fastify from 'fastify'

// First: what a plugin measures with is decided when it is registered.
const exporter = new PrometheusExporter({ port: Number(process.env.METRICS_PORT ?? 9464) })
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }))

const app = Fastify({ logger: true })
await app.register(svcWebhooks, { allowedEvents: ['order.created'] })
await app.svc.events.subscribe('order.created', async (order: { id: number }) => {
  app.log.info({ order }, 'shipped')
})

app.post<{ Body: { id: number } }>('/orders', async ({ body }, reply) => {
  await app.svc.events.publish('order.created', body)
  return reply.code(201).send(body)
})

// Does the process run? It does not query Postgres: an outage must not restart processes.
app.get('/live', async () => ({ ok: true }))
// Should it get requests?
app.get('/ready', async (_request, reply) => {
  const { database, listener } = await app.svc.health()
  return reply.code(database.ok && listener.ok ? 200 : 503).send({ database, listener })
})

app.addHook('onClose', () => exporter.shutdown())
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close())
await app.listen({ port: Number(process.env.PORT ?? 3000) })
