import { code, sourceOf, sources, table } from './declarations.ts'

const SAME = 'the same as the one above'
const OF_QUEUE = '`svc.queue.name`'

/** In the order of the page, with their labels. Kind, unit and meaning are in the code. */
const LABELS: Record<string, string> = {
  'messaging.client.sent.messages':
    '`messaging.system`, `messaging.operation.name`, `messaging.destination.name`, `error.type`',
  'messaging.client.operation.duration': `${SAME}, and \`messaging.operation.type\``,
  'messaging.client.consumed.messages': 'the same as the next',
  'messaging.process.duration':
    '`messaging.system`, `messaging.operation.name`, `messaging.destination.name`, `messaging.destination.subscription.name`, `error.type`',
  'http.client.request.duration':
    '`http.request.method`, `http.response.status_code`, `error.type`',
  'svc.queue.attempts': `${OF_QUEUE}, \`messaging.destination.name\`, \`svc.outcome\` (\`completed\`, \`failed\`, \`dead\`, \`cancelled\`), \`error.type\``,
  'svc.queue.latency': `${OF_QUEUE}, \`messaging.destination.name\``,
  'svc.queue.in_flight': OF_QUEUE,
  'svc.queue.waiting': OF_QUEUE,
  'svc.queue.active': OF_QUEUE,
  'svc.queue.oldest_waiting': OF_QUEUE,
  'svc.queue.dead': OF_QUEUE,
  'svc.paused':
    '`svc.paused.scope`: what an operator has stopped (`all`, `tenant`, `subscription`)',
  'svc.task.failures': '`svc.task.name`',
  'svc.guard.decisions':
    '`svc.guard.decision` (`allowed`, `open`, or the reason of a refusal), `http.response.status_code` of a refusal',
  'svc.guard.cache.lookups': '`svc.guard.cache.result` (`hit`, `miss`)',
  'svc.inbound.requests':
    '`svc.source`, `svc.outcome` (`accepted`, `duplicate`, `answered`, `refused`, `malformed`, `failed`)',
  'svc.inbound.duration': SAME,
}

export interface Metric {
  name: string
  kind: string
  unit: string
  description: string
}

const INSTRUMENT =
  /\.create(?:Observable)?(Counter|Gauge|Histogram)\(\s*'([\w.]+)',\s*\{\s*unit: '([^']+)',\s*description:\s*'([^']+)'/g

/** All metrics of the packages, as their code defines them. */
export function metrics(): Metric[] {
  const found = sources('packages/*/src/**/*.ts').flatMap((file) =>
    [...sourceOf(file).matchAll(INSTRUMENT)].map(
      ([, kind = '', name = '', unit = '', description = '']) => ({
        name,
        kind: kind.toLowerCase(),
        unit,
        description,
      }),
    ),
  )
  const unknown = found.filter(({ name }) => !(name in LABELS)).map(({ name }) => name)
  if (unknown.length > 0) throw new Error(`the page of metrics lacks ${unknown.join(', ')}`)
  return Object.keys(LABELS).map((name) => {
    const metric = found.find((one) => one.name === name)
    if (metric === undefined) throw new Error(`no code has the metric ${name}`)
    return metric
  })
}

export const metricsPage = (): string => `# Metrics

Names, units and labels follow the semantic conventions of OpenTelemetry. Metrics that the conventions do not have begin with \`svc.\`. [OpenTelemetry](../hosts/before-the-guard.md#opentelemetry) says how to collect them, [Health, metrics, alerts](../operate/health-metrics-alerts.md) which to alert on.

${table(
  ['metric', 'kind', 'unit', 'meaning', 'labels'],
  metrics().map(({ name, kind, unit, description }) => [
    code(name),
    kind,
    code(unit),
    description,
    LABELS[name]!,
  ]),
)}
- No label holds an id, a tenant or a URL. The first 200 event names that a process sees get labels of their own. All others count as \`_OTHER\`.
- \`http.client.request.duration\` has no \`server.address\`, although the convention asks for it: the number of receivers is unbounded.
- The reason of a refusal by the guard is \`missing\`, \`ambiguous\`, \`unknown\`, \`revoked\`, \`disabled\`, \`expired\`, \`blocked\`, \`insufficient_scope\`, \`address_not_allowed\`, \`rate_limited\`, \`quota_exceeded\`, \`plan_unknown\` or \`unavailable\`.
- \`error.type\` of a delivery is the status of the answer, or the class of the failure (\`dns\`, \`timeout\`, \`tls\`, …). Elsewhere it is the code of the error, or the name of its class.
- \`svc.queue.in_flight\` counts the attempts of one process: add up the values of all processes. The other gauges count rows in the database: take the maximum. They are read at most once a collection. If \`svc.health()\` has counted the queues within the last five seconds, its counts are used.
- If a process is killed during the last attempt of a job, the dead letter appears in \`svc_queue_dead\` alone.
`
