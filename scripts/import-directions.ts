// Which way imports go in the packages. The linter holds everybody to it, and its message says why.
import type { OxlintOverride } from 'oxlint'

/** An import that is refused, and what to do instead. */
interface Refused {
  regex: string
  message: string
  allowImportNames?: string[]
}

const refuse = (regex: string, message: string): Refused => ({ regex, message })

// One door each, so that a change of theirs is a change of one file of ours.
const pgBoss = refuse(
  '^pg-boss(/|$)',
  "pg-boss has one door: core's queue.ts; jobs.ts has its types.",
)
const undici = refuse(
  '^undici$',
  'undici has one door: outbound/post.ts, which vets every address.',
)

// Packages: auth and webhooks stand side by side on core, and a host may have either without the other.
const aboveCore = refuse(
  '^@svc/(auth|webhooks)|/(auth|webhooks)/src/',
  'Core knows nobody above it.',
)
const auth = refuse('^@svc/auth|/auth/src/', 'Webhooks must work without auth.')
const webhooks = refuse('^@svc/webhooks|/webhooks/src/', 'Auth must work without webhooks.')
const coreInside = refuse('/core/src/', 'Import @svc/core or @svc/core/kit.')

// Within a package: index → plugin → routes → actions → guard, inbound, outbound → tables → pure modules.
const index = refuse('^\\.\\.?/(index|kit)\\.ts$', 'The index is the way in from outside only.')
const plugin = refuse('^\\.\\.?/plugin\\.ts$', 'Only the index imports the plugin.')
const routes = refuse(
  '^\\.\\.?/routes/',
  'Only the plugin imports routes: what they do is an action.',
)
const actions = refuse(
  '^\\.\\.?/(operations/.*|actions\\.ts)$',
  'Actions are called by routes and other callers; what lies below them does not call back.',
)
const guard = refuse('^\\.\\.?/guard/', 'A table does not know who asks.')
const inbound = refuse(
  '^\\.\\.?/inbound/',
  'Inbound and outbound meet in the plugin, and in events.',
)
const outbound = refuse(
  '^\\.\\.?/outbound/',
  'Inbound and outbound meet in the plugin, and in events.',
)
const tables = refuse(
  '^\\.\\./(users|api-keys|failures|registrations|delivery-log)\\.ts$',
  'A route is thin over an action, which knows the tables.',
)
const rulers = refuse(
  '^\\./(core|event-bus|publisher|pump)\\.ts$',
  'A table is used by what runs core, and does not know it.',
)
const http = refuse(
  '^(fastify|fastify-plugin|@fastify/(sensible|type-provider-typebox|request-context))$',
  'This file knows no Fastify.',
)
const postgres = refuse(
  '^(pg|@svc/core/kit)$|/(database|queue|kv)\\.ts$',
  'This file knows no Postgres.',
)
const effects = refuse(
  '^(node:)?(fs|http|https|http2|tls|dns|child_process|worker_threads|timers|process|os)(/.*)?$',
  'A pure decision has no effects: pass in what it needs.',
)
const net: Refused = {
  ...refuse('^(node:)?net$', 'A pure decision opens no connection.'),
  allowImportNames: ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'],
}

/** A later entry for the same file takes the place of an earlier one: rules are not added up. */
const imports = (files: string[], ...refused: (Refused | Refused[])[]): OxlintOverride => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: refused.flat() }] },
})

const core = [pgBoss, undici, aboveCore, index]
const inAuth = [pgBoss, undici, webhooks, coreInside, index]
const inWebhooks = [pgBoss, undici, auth, coreInside, index]
const upwards = [plugin, routes, actions]
const pure = [...upwards, guard, http, effects, net]

export const importDirections: OxlintOverride[] = [
  imports(['packages/core/src/**'], core, plugin),
  imports(['packages/core/src/{index,kit}.ts'], core),
  imports(['packages/core/src/{jobs,queue}.ts'], undici, aboveCore, index, plugin, rulers),
  imports(
    ['packages/core/src/{dead-letters,event-log,job-table,kv,subscriptions}.ts'],
    core,
    plugin,
    http,
    rulers,
  ),
  imports(
    ['packages/core/src/{errors,fairness,ids,job,lanes,pace,svc-actions}.ts'],
    core,
    pure,
    postgres,
    rulers,
  ),

  imports(['packages/auth/src/**'], inAuth, upwards),
  imports(['packages/auth/src/index.ts'], inAuth),
  imports(['packages/auth/src/plugin.ts'], inAuth),
  imports(['packages/auth/src/routes/**'], inAuth, plugin, tables),
  imports(['packages/auth/src/{actions,operations/*}.ts'], inAuth, plugin, routes),
  imports(['packages/auth/src/{users,api-keys,failures}.ts'], inAuth, upwards, guard, http),
  imports(
    [
      'packages/auth/src/{errors,key,schemas,scopes}.ts',
      'packages/auth/src/guard/{bounded-map,credentials,lease,miss-budget,path-rules,policy,request-path}.ts',
    ],
    inAuth,
    pure,
    postgres,
  ),

  imports(['packages/webhooks/src/**'], inWebhooks, upwards),
  imports(['packages/webhooks/src/index.ts'], inWebhooks),
  imports(['packages/webhooks/src/plugin.ts'], inWebhooks),
  imports(['packages/webhooks/src/routes/**'], inWebhooks, plugin, tables),
  imports(['packages/webhooks/src/actions.ts'], inWebhooks, plugin, routes),
  imports(['packages/webhooks/src/inbound/**'], inWebhooks, upwards, outbound),
  imports(['packages/webhooks/src/outbound/**'], inWebhooks, upwards, inbound),
  imports(
    ['packages/webhooks/src/outbound/post.ts'],
    pgBoss,
    auth,
    coreInside,
    index,
    upwards,
    inbound,
  ),
  imports(
    ['packages/webhooks/src/{registrations,delivery-log}.ts'],
    inWebhooks,
    upwards,
    inbound,
    outbound,
    http,
  ),
  imports(
    [
      'packages/webhooks/src/{errors,schemas}.ts',
      'packages/webhooks/src/outbound/{address,destination,failure,lane,names,network,next-step,sign}.ts',
      'packages/webhooks/src/receiver/**',
    ],
    inWebhooks,
    pure,
    inbound,
    postgres,
  ),
  // They check their options with core's kit.
  imports(['packages/webhooks/src/inbound/verify/**'], inWebhooks, pure, outbound),
]
