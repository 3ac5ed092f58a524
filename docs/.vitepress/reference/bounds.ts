import { sourceOf, table } from './declarations.ts'

/** The bounds that a user can meet: where the code has each, and what it bounds. */
const BOUNDS: Record<string, [file: string, meanings: Record<string, string>][]> = {
  Keys: [
    ['auth/src/key-format.ts', { LONGEST_KEY: 'A key that is presented' }],
    [
      'auth/src/limit-fields.ts',
      {
        MAX_LIMITS: 'Limits of one key',
        MOST: 'The `limit` of a limit or a quota',
        LONGEST_SECONDS: 'The `perSeconds` of a limit',
      },
    ],
    ['auth/src/guard/policy/policy-map.ts', { MAX_COST: 'The `cost` of a route' }],
    ['auth/src/tables/usage.ts', { KEPT_DAYS: 'How long usage is kept' }],
    [
      'auth/src/guard/keys/key-cache.ts',
      {
        MAX_VALID_KEYS: 'Valid keys in the cache of a process',
        MAX_REJECTED_KEYS: 'Refused texts in the cache of a process',
      },
    ],
    [
      'auth/src/github-alerts.ts',
      {
        MOST_ALERTS: 'Alerts in one request of GitHub',
        LONGEST_PLACE: 'The `url` and the `source` of an alert that are kept',
      },
    ],
    ['auth/src/operations/import-keys.ts', { LARGEST_BODY: 'The body of one import' }],
  ],
  Events: [
    [
      'core/src/events/filter/filter-limits.ts',
      { MAX_BYTES: 'The filter of a webhook, as JSON', MAX_LEVELS: 'Levels of a filter' },
    ],
    [
      'core/src/events/filter/work-bound.ts',
      { MOST_STEPS: 'Steps that a filter takes for one event' },
    ],
    [
      'core/src/events/micro-batch.ts',
      {
        LARGEST_WAITING:
          'Publishes that wait in a process for Postgres; each counts as its payload and 500 bytes',
        MOST_JOBS: 'Jobs of one batch of publishes',
      },
    ],
    ['core/src/events/feed-table.ts', { LARGEST_PAGE_BYTES: 'Payloads on one page of the feed' }],
    [
      'core/src/events/event-search.ts',
      { LONGEST_SEARCH_MS: 'A search, after which it answers what it has found' },
    ],
    ['core/src/kv/key-value-store.ts', { LONGEST_KEY_BYTES: 'A key of `svc.kv`' }],
    [
      'core/src/telemetry/metrics.ts',
      { MOST_VALUES: 'Event names that get labels of their own in metrics' },
    ],
  ],
  'Webhooks out': [
    ['webhooks/src/outbound/http/blocked-addresses.ts', { MAX_URL_LENGTH: 'The URL of a webhook' }],
    [
      'webhooks/src/outbound/http/post.ts',
      {
        MAX_ANSWER_BYTES: 'What is read of the body of an answer',
        KEPT_BYTES: 'What the log keeps of it',
        MAX_KEPT_CONNECTIONS: 'Idle connections of a process',
      },
    ],
    [
      'webhooks/src/outbound/settings/custom-headers.ts',
      {
        MAX_HEADERS: 'Headers of a webhook',
        MAX_NAME_CHARACTERS: 'The name of a header',
        MAX_VALUE_BYTES: 'The value of a header',
      },
    ],
    [
      'webhooks/src/outbound/settings/retry-schedule.ts',
      { MAX_ATTEMPTS: 'Attempts of a schedule', MAX_DELAY_SECONDS: 'A delay of a schedule' },
    ],
    ['webhooks/src/outbound/settings/secret.ts', { LONGEST_SECRET: 'A secret of your own' }],
    ['webhooks/src/options.ts', { MOST_SIGNING_SECRETS: 'Secrets that sign at a time' }],
    [
      'webhooks/src/outbound/delivery/delivery-worker.ts',
      {
        MAX_LARGE_BYTES:
          'Memory of a process for payloads above 64 KiB. A payload above the bound is sent alone',
      },
    ],
    [
      'webhooks/src/outbound/delivery-queue.ts',
      {
        MOST_COUNTED: 'How far the waiting deliveries of a webhook are counted',
        MOST_COUNTED_IN_LIST: 'The same, in lists of webhooks',
      },
    ],
    [
      'webhooks/src/start-outbound.ts',
      {
        MINUTES_KEPT_DAYS: 'How long statistics by minute are kept',
        HOURS_KEPT_DAYS: 'How long those by hour are kept',
        DAYS_KEPT: 'How long those by day are kept',
      },
    ],
  ],
  Processes: [
    [
      'core/src/processes/processes-table.ts',
      {
        LEASE_SECONDS: 'The lease of a process, after which others take its jobs',
        LONGEST_SILENT_SECONDS:
          'How long a stopped process keeps its jobs while Postgres sees its connection',
      },
    ],
    [
      'core/src/http/call-gate.ts',
      { MOST_UNDER_WAY: 'Reads, and changes, that a tenant has under way in a process' },
    ],
    [
      'core/src/jobs/pg-boss/queue-counts-table.ts',
      { COUNTED: 'How far `svc.health()` counts the jobs of a queue' },
    ],
  ],
}

/** The value of a constant of the code. @throws Error if the code has no constant of this name */
function valueOf(file: string, name: string): string {
  const found = new RegExp(`^(?:export )?const ${name} = ([\\d_. *]+)$`, 'm').exec(
    sourceOf(`packages/${file}`),
  )
  if (found === null) throw new Error(`packages/${file} has no constant ${name}`)
  const value = found[1]!
    .split('*')
    .map((factor) => Number(factor.replaceAll(/[_\s]/g, '')))
    .reduce((a, b) => a * b)
  return value.toLocaleString('en').replaceAll(',', ' ')
}

const UNITS: [RegExp, string][] = [
  [/_MS$/, ' ms'],
  [/SECONDS$/, ' s'],
  [/DAYS$|^DAYS_/, ' days'],
  [/BYTES$|^LARGEST_/, ' bytes'],
  [/CHARACTERS$|_LENGTH$|^LONGEST_(?:KEY|PLACE|SECRET)$/, ' characters'],
]

const unitOf = (name: string): string => UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? ''

export const boundsPage = (): string => `# Bounds

These bounds are fixed in the code. Those that are options are in [Options](options.md), with their ranges. [Bounds of deliveries](../how-it-works/deliveries.md#bounds) and [Bounds of limits](../how-it-works/guard.md#limits) say what follows from them.

${Object.entries(BOUNDS)
  .map(([title, files]) => {
    const rows = files.flatMap(([file, meanings]) =>
      Object.entries(meanings).map(([name, meaning]) => [
        meaning,
        `${valueOf(file, name)}${unitOf(name)}`,
      ]),
    )
    return `## ${title}\n\n${table(['what', 'at most'], rows)}`
  })
  .join('\n')}`
