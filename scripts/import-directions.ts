// Which way imports go in the packages. The linter checks it, and its message gives the reason.
import type { OxlintOverride } from 'oxlint'

/** An import that is refused, and what to do instead. */
interface Refused {
  regex: string
  message: string
  allowImportNames?: string[]
}

const refuse = (regex: string, message: string): Refused => ({ regex, message })

// Only one module imports each of these, so that a change of theirs is a change of one module of
// ours.
const pgBoss = refuse('^pg-boss(/|$)', "Only core's jobs/pg-boss imports pg-boss.")
const undici = refuse('^undici$', 'Only outbound/http imports undici: it checks every address.')

const openTelemetry = refuse(
  '^@opentelemetry/',
  "Only core's telemetry/open-telemetry.ts imports OpenTelemetry.",
)

// Packages: the receiver has no dependencies; auth and webhooks are built on core, and a host may
// have either without the other.
const aboveCore = refuse(
  '^@svc/(auth|webhooks|console)|/(auth|webhooks|console)/src/',
  'Core does not import the packages that are built on it.',
)
const noAuth = refuse('^@svc/auth|/auth/src/', 'Webhooks must work without auth.')
const noWebhooks = refuse('^@svc/webhooks|/webhooks/src/', 'Auth must work without webhooks.')
const dependencies = refuse(
  '^[^.:]+$|^\\.\\./|^node:([^c]|c[^r])',
  'A receiver installs this and nothing else.',
)
const receiverInside = refuse('/receiver/src/', 'Import @svc/receiver.')
const ofConsole = refuse('^@svc/console|/console/src/', 'The console is built on this package.')
const pluginsInside = refuse(
  '/(auth|webhooks)/src/',
  'The console calls the public operations, svc.auth and svc.webhooks, alone.',
)
const coreInside = refuse('/core/src/', 'Import @svc/core or @svc/core/internal.')

// Within a package, from the outside to the inside: index → plugin → routes → operations → guard,
// inbound, outbound → limits, usage, stats → tables → pure modules. No two folders import each
// other.
const index = refuse('^(\\.\\.?/)+(index|internal)\\.ts$', 'Only other packages import the index.')
const plugin = refuse('^(\\.\\.?/)+plugin\\.ts$', 'Only the index imports the plugin.')
const routes = refuse(
  '^(\\.\\.?/)+routes/',
  'Only the plugin imports routes: what they do is an operation.',
)
const operations = refuse(
  '^(\\.\\.?/)+operations/',
  'Routes and the plugin call operations; what operations use does not call them back.',
)
const guard = refuse('^(\\.\\.?/)+guard/', 'The guard is built on this file.')
const inbound = refuse('^(\\.\\.?/)+inbound/', 'Inbound and outbound do not import each other.')
const outbound = refuse('^(\\.\\.?/)+outbound/', 'Inbound and outbound do not import each other.')
const tables = refuse('^(\\.\\.?/)+tables/', 'A route calls operations, which call tables.')
const limits = refuse('^(\\.\\.?/)+(limits|usage)/', 'Limits and usage are built on tables.')
const stats = refuse('^(\\.\\.?/)+stats/', 'Statistics are built on tables.')
const screens = refuse(
  '^(\\.\\.?/)+(calls|live|page)/',
  'The operations of the page are built on tables and access.',
)
const access = refuse('^(\\.\\.?/)+access/', 'Access is built on tables.')
const assembly = refuse('^(\\.\\.?/)+core\\.ts$', 'Only core.ts puts the parts together.')
const pump = refuse('^(\\.\\.?/)+pump/', 'The pump uses this folder.')
const groups = refuse('^(\\.\\.?/)+groups/', 'Groups are built on the statements of jobs.')
const keys = refuse('^(\\.\\.?/)+keys/', 'The lookup of keys is built on the lockout.')
const delivery = refuse('^(\\.\\.?/)+delivery/', 'Deliveries are built on this folder.')
const http = refuse(
  '^(fastify|fastify-plugin|@fastify/(sensible|type-provider-typebox|request-context))$',
  'This file does not use Fastify.',
)
const postgres: Refused = {
  ...refuse(
    '^(pg|@svc/core/internal)$|/postgres/|/(kv|pg-boss)/|-table\\.ts$',
    'This file does not use Postgres.',
  ),
  // Pieces of schemas, and a check of a value.
  allowImportNames: ['STORABLE_TEXT', 'nullable', 'Tenant', 'TenantFilter', 'isIntegerFrom'],
}
const effects = refuse(
  '^(node:)?(fs|http|https|http2|tls|dns|child_process|worker_threads|timers|process|os)(/.*)?$',
  'A pure decision has no effects: pass in what it needs.',
)
const net: Refused = {
  ...refuse('^(node:)?net$', 'A pure decision opens no connection.'),
  allowImportNames: ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'],
}

/** A later entry for the same file replaces an earlier one: rules are not added up. */
const imports = (files: string[], ...refused: (Refused | Refused[])[]): OxlintOverride => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: refused.flat() }] },
})

const everywhere = [pgBoss, undici, openTelemetry, index]
const core = [...everywhere, aboveCore, plugin]

/** From the inside to the outside: a folder of core imports only those of the lines above its own. */
const coreLayers = [
  ['options', 'telemetry'],
  ['postgres', 'tenants', 'encryption'],
  ['migrations', 'processes', 'kv', 'actions'],
  ['jobs', 'http'],
  ['events', 'audit', 'health', 'adapters'],
  ['cli', 'testing'],
]

/** The folders that a folder of core does not import. */
function outside(folder: string): Refused {
  const layer = coreLayers.findIndex((folders) => folders.includes(folder))
  const others = coreLayers
    .slice(layer)
    .flat()
    .filter((other) => other !== folder)
  const message = `core/${folder} imports only folders of inner layers, see coreLayers.`
  return refuse(`^(\\.\\.?/)+(${others.join('|')})/`, message)
}

const inCore = (folder: string, files: string, ...refused: (Refused | Refused[])[]) =>
  imports([`packages/core/src/${folder}/${files}`], core, assembly, outside(folder), ...refused)

const auth = [...everywhere, noWebhooks, coreInside, ofConsole]
const webhooks = [...everywhere, noAuth, coreInside, receiverInside, ofConsole]
const consoles = [...everywhere, coreInside, pluginsInside]
const upwards = [plugin, routes, operations]
const pure = [...upwards, guard, http, effects, net, postgres]

export const importDirections: OxlintOverride[] = [
  imports(['packages/receiver/src/**'], dependencies),

  imports(['packages/core/src/**'], core),
  imports(['packages/core/src/{index,internal}.ts'], pgBoss, undici, openTelemetry, aboveCore),
  ...coreLayers.flat().map((folder) => inCore(folder, '**')),
  // It is a host of its own.
  imports(['packages/core/src/cli/**'], core, outside('cli')),
  inCore('telemetry', '**', postgres),
  imports(
    ['packages/core/src/telemetry/open-telemetry.ts'],
    pgBoss,
    undici,
    index,
    aboveCore,
    plugin,
    assembly,
    outside('telemetry'),
    postgres,
  ),
  inCore('jobs', 'groups/**', pump),
  imports(
    ['packages/core/src/jobs/pg-boss/**'],
    undici,
    openTelemetry,
    index,
    aboveCore,
    plugin,
    assembly,
    outside('jobs'),
    groups,
    pump,
  ),
  imports(['packages/core/src/{errors,ids}.ts'], core, assembly, pure),
  inCore('tenants', 'tenants.ts', pure),
  inCore('audit', '{audit-entry,audit-origin}.ts', pure),
  inCore('migrations', 'lock-retries.ts', pure),
  inCore('jobs', '{job,retry-settings}.ts', pure),
  inCore('jobs', 'groups/{claim-limits,group-answers,group-caps,group-limits}.ts', pump, pure),
  inCore('jobs', 'pump/{fetch-ahead,poll-interval,slots}.ts', pure),

  imports(['packages/auth/src/{index,plugin}.ts'], auth),
  imports(['packages/auth/src/routes/**'], auth, plugin, tables),
  imports(['packages/auth/src/operations/**'], auth, plugin, routes),
  imports(['packages/auth/src/guard/**'], auth, upwards),
  imports(['packages/auth/src/guard/lockout/**'], auth, upwards, keys),
  imports(['packages/auth/src/{limits,usage}/**'], auth, upwards, guard, http),
  imports(['packages/auth/src/tables/**'], auth, upwards, guard, limits, http),
  imports(
    [
      'packages/auth/src/{addresses,errors,github-alerts,key-fields,key-format,limit-fields,restrictions,schema-pieces,schemas,scopes}.ts',
      'packages/auth/src/guard/{batch-lookup,bounded-map,credentials}.ts',
      'packages/auth/src/guard/policy/{path-rules,request-path,route-policy}.ts',
      'packages/auth/src/guard/keys/{cache-lease,lookup-budgets,token-bucket}.ts',
    ],
    auth,
    pure,
  ),

  imports(['packages/webhooks/src/{index,plugin}.ts'], webhooks),
  imports(['packages/webhooks/src/routes/**'], webhooks, plugin, tables),
  imports(['packages/webhooks/src/operations/**'], webhooks, plugin, routes),
  imports(['packages/webhooks/src/inbound/**'], webhooks, upwards, outbound),
  imports(['packages/webhooks/src/outbound/**'], webhooks, upwards, inbound),
  imports(['packages/webhooks/src/outbound/health/**'], webhooks, upwards, inbound, delivery),
  imports(['packages/webhooks/src/stats/**'], webhooks, upwards, inbound, outbound, http),
  imports(['packages/webhooks/src/stats/percentiles.ts'], webhooks, pure, inbound, outbound),
  imports(
    ['packages/webhooks/src/outbound/http/**'],
    pgBoss,
    openTelemetry,
    index,
    noAuth,
    coreInside,
    upwards,
    inbound,
    delivery,
    tables,
  ),
  imports(['packages/webhooks/src/tables/**'], webhooks, upwards, inbound, outbound, stats, http),
  imports(
    [
      'packages/webhooks/src/{errors,schema-pieces,schemas,*-schemas}.ts',
      'packages/webhooks/src/outbound/constants.ts',
      'packages/webhooks/src/outbound/{filter,settings,transforms}/**',
      'packages/webhooks/src/outbound/delivery/{ed25519,outcome-of-answer,sign}.ts',
      'packages/webhooks/src/outbound/http/{blocked-addresses,classify-error,mutex,webhook-url}.ts',
    ],
    webhooks,
    pure,
    inbound,
  ),
  // They check their options with @svc/core/internal.
  imports(['packages/webhooks/src/inbound/verify/**'], webhooks, upwards, http, effects, outbound),

  imports(['packages/console/src/{index,plugin}.ts'], consoles),
  imports(['packages/console/src/routes/**'], consoles, plugin, tables),
  imports(['packages/console/src/{calls,live,page}/**'], consoles, plugin, routes),
  imports(['packages/console/src/access/**'], consoles, plugin, routes, screens),
  imports(['packages/console/src/tables/**'], consoles, upwards, access, screens, http),
  imports(
    [
      'packages/console/src/rights.ts',
      'packages/console/src/access/{cookie,identity,key-refusal,same-origin}.ts',
    ],
    consoles,
    plugin,
    routes,
    access,
    screens,
    http,
    effects,
  ),
  // The page imports the contract, and nothing else of the server.
  imports(
    ['packages/console/src/contract.ts', 'packages/console/src/contract/**'],
    [refuse('^[^.]|^\\.\\.', 'The page imports the contract, which imports nothing.')],
  ),
]
