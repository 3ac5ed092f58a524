import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const DOCS = join(import.meta.dirname, '..')

/** The groups of the site with their pages, in the order in which they are read. */
const GROUPS: [folder: string, title: string, pages: string[]][] = [
  [
    'start',
    'Start',
    [
      'what-it-is',
      'tutorial',
      'before-production',
      'push-pull-or-thin',
      'comparison',
      'coming-over',
      'support-and-versions',
    ],
  ],
  [
    'keys',
    'API keys',
    [
      'guard',
      'manage',
      'scopes',
      'tenants',
      'rotate-and-expire',
      'limits-quotas-plans',
      'usage',
      'audit',
      'lockout-and-leaks',
      'other-services-and-proxies',
      'import',
      'from-unkey',
      'from-better-auth',
    ],
  ],
  [
    'webhooks',
    'Webhooks out',
    [
      'publish',
      'database-libraries',
      'define-events',
      'handle',
      'register',
      'filter',
      'settings',
      'secrets',
      'transforms',
      'network',
      'receive-and-verify',
      'feed',
      'deliveries',
      'pause-and-recover',
      'test',
      'test-helpers',
      'from-svix',
      'from-outpost',
      'from-own-table',
    ],
  ],
  [
    'inbound',
    'Webhooks in',
    [
      'first-source',
      'providers/index',
      'own-source',
      'answers',
      'secrets-handshakes-batches',
      'log-and-replay',
      'without-fastify',
    ],
  ],
  ['console', 'Console and portal', ['console', 'portal', 'rights', 'mask-payloads']],
  [
    'hosts',
    'Hosts',
    [
      'nest',
      'express-next-scripts',
      'secrets-and-store',
      'before-the-guard',
      'telemetry',
      'commonjs-bundles-fastify-cli',
      'docker-serverless',
    ],
  ],
  [
    'operate',
    'Operate',
    [
      'deploy-and-migrate',
      'health-metrics-alerts',
      'runbook',
      'failing-webhooks',
      'growing',
      'cells',
      'postgres',
      'failover',
      'lost-commits',
      'failover-tried',
      'database-connections',
      'citus',
      'engines',
    ],
  ],
  [
    'reference',
    'Reference',
    [
      'options',
      'errors',
      'events',
      'log-lines',
      'metrics',
      'http-api',
      'bounds',
      'cli',
      'promises',
    ],
  ],
  [
    'how-it-works',
    'How it works',
    [
      'guard',
      'limits',
      'bounds-of-limits',
      'quotas-and-plans',
      'deliveries',
      'fairness',
      'several-processes',
      'threat-model',
      'threat-model-services',
      'threat-model-webhooks',
      'benchmarks',
    ],
  ],
]

export interface Page {
  /** From `docs`, without an extension: `keys/guard`. */
  path: string
  /** Its heading. */
  title: string
}

export interface Group {
  title: string
  pages: Page[]
}

/** The paths of the pages, from `docs`, without an extension. */
export const listed = (): string[] =>
  GROUPS.flatMap(([folder, , names]) => names.map((name) => `${folder}/${name}`))

/**
 * The groups with their pages, each named by its heading.
 * @throws where a page is missing. `generate.ts` writes some.
 */
export function groups(): Group[] {
  return GROUPS.map(([folder, title, names]) => ({
    title,
    pages: names.map((name) => `${folder}/${name}`).map((path) => ({ path, title: titleOf(path) })),
  }))
}

export const fileOf = (path: string): string => join(DOCS, `${path}.md`)

/** The heading of a page. */
export function titleOf(path: string): string {
  const [, title] = /^# (.+)$/m.exec(readFileSync(fileOf(path), 'utf8')) ?? []
  if (title === undefined) throw new Error(`docs/${path}.md has no heading`)
  return title.replaceAll('`', '')
}
