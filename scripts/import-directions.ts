// Which way imports go in the packages. The linter checks it, and its message gives the reason.
import type { OxlintOverride } from 'oxlint'
import {
  aboveCore,
  access,
  assembly,
  coreInside,
  delivery,
  dependencies,
  doors,
  effects,
  engine,
  recipients,
  guard,
  health,
  http,
  inbound,
  index,
  insides,
  keys,
  limits,
  net,
  noAuth,
  noWebhooks,
  nodeHttp,
  ofConsole,
  openTelemetry,
  operations,
  outbound,
  pgBoss,
  plugin,
  pluginsInside,
  postgres,
  providersInside,
  pump,
  receiverInside,
  refuse,
  routes,
  screens,
  standsAlone,
  tables,
  undici,
  type Refused,
} from './refused-imports.ts'

/** A later entry for the same file replaces an earlier one: rules are not added up. */
const imports = (files: string[], ...refused: (Refused | Refused[])[]): OxlintOverride => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: refused.flat() }] },
})

const everywhere = [pgBoss, undici, openTelemetry, nodeHttp, index]
const core = [...everywhere, aboveCore, plugin]

/** From the inside to the outside: a folder of core imports only those of the lines above its own. */
const coreLayers = [
  ['options', 'telemetry'],
  ['postgres', 'tenants', 'encryption'],
  ['migrations', 'processes', 'kv', 'actions'],
  ['jobs', 'http'],
  ['events', 'audit', 'health'],
  ['upkeep'],
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
const webhooks = [...everywhere, noAuth, coreInside, providersInside, receiverInside, ofConsole]
const consoles = [...everywhere, coreInside, pluginsInside]
const upwards = [plugin, routes, operations]
const pure = [...upwards, guard, http, effects, net, postgres]

export const importDirections: OxlintOverride[] = [
  imports(['packages/receiver/src/**'], dependencies),
  imports(['packages/providers/src/**'], standsAlone),
  imports(['packages/providers/src/engine/**'], standsAlone, doors),
  imports(['packages/providers/src/presets/**'], standsAlone, doors, engine),

  imports(
    ['packages/cli/src/**'],
    [pgBoss, undici, openTelemetry, index, coreInside, pluginsInside, receiverInside],
  ),

  imports(
    ['packages/testing/src/**'],
    everywhere,
    noAuth,
    noWebhooks,
    coreInside,
    providersInside,
    receiverInside,
  ),

  imports(['packages/nest/src/**'], everywhere, insides),
  // Its error is made as those of the others are.
  imports(['packages/nest/src/errors.ts'], everywhere),

  imports(['packages/core/src/**'], core),
  imports(['packages/core/src/{index,internal}.ts'], pgBoss, undici, openTelemetry, aboveCore),
  // It registers the plugin, as a host does.
  imports(['packages/core/src/create-svc.ts'], everywhere, aboveCore),
  ...coreLayers.flat().map((folder) => inCore(folder, '**')),
  // A migration without a host starts core.
  imports(['packages/core/src/upkeep/**'], core, outside('upkeep')),
  inCore('telemetry', '**', postgres),
  imports(
    ['packages/core/src/telemetry/{open-telemetry,instruments}.ts'],
    pgBoss,
    undici,
    index,
    aboveCore,
    plugin,
    assembly,
    outside('telemetry'),
    postgres,
  ),
  inCore('jobs', 'recipients/**', pump),
  imports(
    ['packages/core/src/jobs/pg-boss/**'],
    undici,
    openTelemetry,
    index,
    aboveCore,
    plugin,
    assembly,
    outside('jobs'),
    recipients,
    pump,
  ),
  imports(['packages/core/src/{errors,ids}.ts'], core, assembly, pure),
  inCore('tenants', 'tenants.ts', pure),
  inCore('audit', '{audit-entry,audit-origin}.ts', pure),
  inCore('migrations', 'lock-retries.ts', pure),
  inCore('jobs', '{job,retry-settings}.ts', pure),
  inCore('jobs', 'recipients/{claim-limits,recipient-answers,recipient-limits}.ts', pump, pure),
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
      'packages/auth/src/{addresses,errors,github-alerts,key-fields,key-format,limit-fields,restrictions,schemas,scopes}.ts',
      'packages/auth/src/guard/{batch-lookup,bounded-map,credentials}.ts',
      'packages/auth/src/guard/policy/{path-rules,request-path,route-policy}.ts',
      'packages/auth/src/guard/keys/{cache-lease,token-bucket}.ts',
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
  imports(
    ['packages/webhooks/src/outbound/recoveries/**'],
    webhooks,
    upwards,
    inbound,
    delivery,
    health,
  ),
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
  imports(['packages/webhooks/src/tables/**'], webhooks, upwards, inbound, outbound, http),
  imports(
    [
      'packages/webhooks/src/{errors,schema-pieces,schemas,*-schemas}.ts',
      'packages/webhooks/src/outbound/{filter,settings,transforms}/**',
      'packages/webhooks/src/outbound/delivery/ed25519.ts',
      'packages/webhooks/src/outbound/http/blocked-addresses.ts',
    ],
    webhooks,
    pure,
    inbound,
  ),

  imports(['packages/console/src/{index,plugin}.ts'], consoles),
  imports(['packages/console/src/routes/**'], consoles, plugin, tables),
  imports(['packages/console/src/{calls,live,page}/**'], consoles, plugin, routes),
  imports(['packages/console/src/access/**'], consoles, plugin, routes, screens),
  imports(['packages/console/src/tables/**'], consoles, upwards, access, screens, http),
  imports(
    [
      'packages/console/src/rights.ts',
      'packages/console/src/access/{cookie,identity,same-origin}.ts',
    ],
    consoles,
    plugin,
    routes,
    access,
    screens,
    http,
    effects,
  ),
  // The page imports the contract, and nothing else of the server. It holds types alone.
  imports(
    ['packages/console/src/contract.ts', 'packages/console/src/contract/**'],
    [
      refuse(
        '^[^.@]|^@[^s]|/internal$|^(\\.\\.?/)+(access|live|page|routes|tables)/',
        'The page imports the contract, which imports types of the operations and of the calls.',
      ),
    ],
  ),
]
