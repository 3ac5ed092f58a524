// What modules of the packages do not import, and what to do instead: the linter's messages.

/** An import that is refused, and what to do instead. */
export interface Refused {
  regex: string
  message: string
  allowImportNames?: string[]
  allowTypeImports?: boolean
}

export const refuse = (regex: string, message: string): Refused => ({ regex, message })

// Only one module imports each of these, so that a change of theirs is a change of one module of
// ours.
export const pgBoss = refuse('^pg-boss(/|$)', "Only core's jobs/pg-boss imports pg-boss.")
export const undici = refuse(
  '^undici(/|$)',
  'Only outbound/http imports undici: it checks every address.',
)

export const openTelemetry = refuse(
  '^@opentelemetry/',
  "Only core's telemetry/open-telemetry.ts calls OpenTelemetry.",
)

export const nodeHttp: Refused = {
  ...refuse(
    '^(node:)?http$',
    "An import of node:http loads Node's fetch, 3 MB: use process.getBuiltinModule('node:http').",
  ),
  allowTypeImports: true,
  // The receiver of the testing kit.
  allowImportNames: ['createServer'],
}

// Packages: the receiver has no dependencies; auth and webhooks are built on core, and a host may
// have either without the other.
export const aboveCore = refuse(
  '^@svc/(auth|webhooks|console)|/(auth|webhooks|console)/src/',
  'Core does not import the packages that are built on it.',
)
export const noAuth = refuse('^@svc/auth|/auth/src/', 'Webhooks must work without auth.')
export const noWebhooks = refuse(
  '^@svc/webhooks|/webhooks/src/',
  'Auth must work without webhooks.',
)
export const dependencies = refuse(
  '^[^.:]+$|^\\.\\./|^node:([^c]|c[^r])',
  'A receiver installs this and nothing else.',
)
export const receiverInside = refuse('/receiver/src/', 'Import @svc/receiver.')
export const standsAlone = refuse(
  '^(@|[a-ik-mo-z]|j[^o]|n[^o]|no[^d])|/(core|auth|webhooks|receiver)/src/|^node:(fs|http|net)',
  'Providers runs without a framework, a database and our other packages; only jose is needed.',
)
export const providersInside = refuse(
  '/providers/src/',
  'Import @svc/providers, or its exports for our packages.',
)
export const doors = refuse(
  '^(\\.\\.?/)+(index|internal|testing|provider|list)\\.ts$',
  'What a host calls is built on the engine and the rows.',
)
export const engine = refuse('^(\\.\\.?/)+(engine|testing)/', 'A row is data.')
export const ofConsole = refuse(
  '^@svc/console|/console/src/',
  'The console is built on this package.',
)
export const pluginsInside = refuse(
  '/(auth|webhooks)/src/',
  'The console calls the public operations, svc.auth and svc.webhooks, alone.',
)
export const insides = refuse(
  '/(core|auth|webhooks|console)/src/',
  'The module of NestJS imports the packages as a host does.',
)
export const coreInside = refuse('/core/src/', 'Import @svc/core or @svc/core/internal.')

// Within a package, from the outside to the inside: index → plugin → routes → operations → guard,
// inbound, outbound → limits, usage → tables → pure modules. No two folders import each
// other.
export const index = refuse(
  '^(\\.\\.?/)+(index|internal)\\.ts$',
  'Only other packages import the index.',
)
export const plugin = refuse('^(\\.\\.?/)+plugin\\.ts$', 'Only the index imports the plugin.')
export const routes = refuse(
  '^(\\.\\.?/)+routes/',
  'Only the plugin imports routes: what they do is an operation.',
)
export const operations = refuse(
  '^(\\.\\.?/)+operations/',
  'Routes and the plugin call operations; what operations use does not call them back.',
)
export const guard = refuse('^(\\.\\.?/)+guard/', 'The guard is built on this file.')
export const inbound = refuse(
  '^(\\.\\.?/)+inbound/',
  'Inbound and outbound do not import each other.',
)
export const outbound = refuse(
  '^(\\.\\.?/)+outbound/',
  'Inbound and outbound do not import each other.',
)
export const tables = refuse('^(\\.\\.?/)+tables/', 'A route calls operations, which call tables.')
export const limits = refuse('^(\\.\\.?/)+(limits|usage)/', 'Limits and usage are built on tables.')
export const screens = refuse(
  '^(\\.\\.?/)+(calls|live|page)/',
  'The operations of the page are built on tables and access.',
)
export const access = refuse('^(\\.\\.?/)+access/', 'Access is built on tables.')
export const assembly = refuse('^(\\.\\.?/)+core\\.ts$', 'Only core.ts puts the parts together.')
export const pump = refuse('^(\\.\\.?/)+pump/', 'The pump uses this folder.')
export const recipients = refuse(
  '^(\\.\\.?/)+recipients/',
  'Recipients are built on the statements of jobs.',
)
export const keys = refuse('^(\\.\\.?/)+keys/', 'The lookup of keys is built on the lockout.')
export const health = refuse(
  '^(\\.\\.?/)+health/',
  'The health of webhooks is built on this folder.',
)
export const delivery = refuse('^(\\.\\.?/)+delivery/', 'Deliveries are built on this folder.')
export const http = refuse(
  '^(fastify|fastify-plugin|@fastify/(sensible|type-provider-typebox|request-context))$',
  'This file does not use Fastify.',
)
export const postgres: Refused = {
  ...refuse(
    '^(pg|@svc/core/internal)$|/postgres/|/(kv|pg-boss)/|-table\\.ts$',
    'This file does not use Postgres.',
  ),
  // Pieces of schemas, a check of a value, a timer, and what errors are made with.
  allowImportNames: [
    'STORABLE_TEXT',
    'Search',
    'isSealed',
    'Input',
    'nullable',
    'Tenant',
    'TenantFilter',
    'createError',
    'isIntegerFrom',
    'wordedPattern',
    'storableText',
    'Timer',
  ],
}
export const effects = refuse(
  '^(node:)?(fs|http|https|http2|tls|dns|child_process|worker_threads|timers|process|os)(/.*)?$',
  'A pure decision has no effects: pass in what it needs.',
)
export const net: Refused = {
  ...refuse('^(node:)?net$', 'A pure decision opens no connection.'),
  allowImportNames: ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'],
}
