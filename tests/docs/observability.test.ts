import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drain } from '@svc/testing'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { registerSdk } from '../support/open-telemetry.ts'
import { metrics, metricsPage } from '../../docs/.vitepress/reference/metrics.ts'
import { until } from '../support/until.ts'
import { wholeHost } from '../support/whole-host.ts'
import { openReceiver } from '../support/receiver.ts'

const folder = join(import.meta.dirname, '../../docs')
const alerts = readFileSync(join(folder, 'operate/health-metrics-alerts.md'), 'utf8')
const dashboard = readFileSync(join(folder, 'public/grafana-dashboard.json'), 'utf8')
const page = metricsPage()
const documented = metrics()

const sdk = registerSdk({ traces: false })

t.test('the table of metrics lists all metrics of a host, with their units', async (t) => {
  const partner = await openReceiver(t)
  const connectionString = await freshDatabase(t)
  const app = await wholeHost(
    t,
    { database: { connectionString, max: 4 } },
    {
      auth: { excludePaths: ['/hook'] },
      webhooks: {
        inbound: { shop: { path: '/hook', publishAs: 'order.created', verify: () => true } },
      },
    },
  )
  await app.svc.events.subscribe('order.created', () => {})
  await app.ready()
  await app.svc.webhooks.register({ url: partner.url, events: ['*'] })
  await app.inject({ url: '/', headers: { 'x-api-key': 'of-nobody' } })
  await app.inject({ method: 'POST', url: '/hook', payload: {} })
  await drain(app, { timeoutMs: 60_000 })
  const counted = await until(
    () => sdk.metrics(),
    (metrics) => metrics.size >= documented.length,
  )
  t.strictSame([...counted].toSorted(), documented.map(({ name, unit }) => [name, unit]).toSorted())
  for (const name of counted.keys()) {
    for (const { attributes } of await sdk.points(name)) {
      const labels = Object.keys(attributes)
      t.notOk(
        labels.find((label) => !page.includes(`\`${label}\``)),
        `the labels of ${name} stand in the page: ${labels.join(', ')}`,
      )
      t.notMatch(
        JSON.stringify(attributes),
        /[0-9a-f]{8}-[0-9a-f]{4}|127\.0\.0\.1/,
        'no ids, no urls',
      )
    }
  }
})

t.test('the dashboard and the alerts use metrics that the host exports', async (t) => {
  const scraped = await sdk.prometheus()
  const known = new Set([...scraped.matchAll(/^(\w+)(?=[{ ])/gm)].map(([name]) => name))
  const expressions = [
    ...(JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] }).panels.flatMap(
      ({ targets }) => targets.map(({ expr }) => expr),
    ),
    ...[...alerts.matchAll(/^ +expr: (.*)$/gm)].map(([, expr = '']) => expr),
  ]
  t.ok(expressions.length >= 20)
  const asked = expressions.flatMap((expr) => [
    ...expr.matchAll(/\b(?:svc|messaging|http)_\w+(?=[[{)])(?<!\bby \([^)]*)/g),
  ])
  for (const [name] of asked) t.ok(known.has(name), name)
  t.equal(new Set(asked.map(([name]) => name)).size >= documented.length, true, 'all are shown')
})
