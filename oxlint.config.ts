import { defineConfig, type OxlintOverride } from 'oxlint'

/** An import that is refused, and what to do instead. */
interface Refused {
  regex: string
  message: string
  allowImportNames?: string[]
}

const refuse = (regex: string, message: string): Refused => ({ regex, message })

// One door each, so that a change of theirs is a change of one file of ours.
const pgBoss = refuse('^pg-boss$', "pg-boss has one door: core's queue.ts.")
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

// Within a package: index → plugin → routes, guard, inbound, outbound → actions → tables → pure modules.
const index = refuse('^\\.\\.?/(index|kit)\\.ts$', 'The index is the way in from outside only.')
const plugin = refuse(
  '^\\.\\.?/plugin\\.ts$',
  'Only the index imports the plugin, which imports the rest.',
)
const routes = refuse('^\\.\\.?/routes/', 'Only the plugin imports routes; operations are actions.')
const http = refuse(
  '^(fastify|fastify-plugin|@fastify/(sensible|type-provider-typebox|request-context))$',
  'This file knows no Fastify.',
)
const postgres = refuse(
  '^(pg|@svc/core/kit)$|/(database|queue|kv)\\.ts$',
  'A pure decision knows no Postgres.',
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
const imports = (files: string[], refused: Refused[]): OxlintOverride => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: refused }] },
})

const core = [pgBoss, undici, aboveCore, index, plugin]
const inAuth = [pgBoss, undici, webhooks, coreInside, index, plugin]
const inWebhooks = [pgBoss, undici, auth, coreInside, index, plugin]
const pure = [http, postgres, effects, net, routes]
const without = (all: Refused[], ...these: Refused[]) => all.filter((one) => !these.includes(one))

export default defineConfig({
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'node'],
  categories: { correctness: 'error' },
  ignorePatterns: ['**/dist/**', '.tap/**'],
  rules: {
    // A query that nobody waits for fails unheard, or runs after its transaction.
    'typescript/no-floating-promises': [
      'error',
      // tap waits for its subtests itself.
      {
        allowForKnownSafePromises: [
          { from: 'package', package: '@tapjs/core', name: 'PromiseWithSubtest' },
        ],
      },
    ],
    // Fastify's hooks are typed as if they returned nothing, and may be async all the same.
    'typescript/no-misused-promises': ['error', { checksVoidReturn: { properties: false } }],
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: true },
    ],
    'typescript/restrict-template-expressions': 'off',
    'no-control-regex': 'off', // control characters are what we look for
    'typescript/no-explicit-any': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/no-deprecated': 'error',
    'typescript/no-unnecessary-type-assertion': 'error',
    'typescript/consistent-type-imports': 'error',
    'import/no-cycle': 'error',
    'import/no-duplicates': 'error',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'unicorn/prefer-node-protocol': 'error',
    eqeqeq: 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'no-throw-literal': 'error',
    'no-self-compare': 'error',
    'no-unused-vars': [
      'error',
      { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' },
    ],
    'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
  },
  overrides: [
    // A library says nothing on the console, and does not end its host.
    {
      files: ['packages/*/src/**'],
      rules: { 'no-console': 'error', 'unicorn/no-process-exit': 'error' },
    },

    imports(['packages/core/src/**'], core),
    imports(['packages/core/src/{index,kit}.ts'], without(core, plugin)),
    imports(['packages/core/src/queue.ts'], without(core, pgBoss)),
    imports(
      ['packages/core/src/{errors,fairness,ids,options,secrets}.ts'],
      [...core, http, effects, routes],
    ),

    imports(['packages/auth/src/**'], inAuth),
    imports(['packages/auth/src/index.ts'], without(inAuth, plugin)),
    imports(
      ['packages/auth/src/{credentials,errors,key,policy,schemas,scopes}.ts'],
      [...inAuth, ...pure],
    ),

    imports(['packages/webhooks/src/**'], inWebhooks),
    imports(['packages/webhooks/src/index.ts'], without(inWebhooks, plugin)),
    imports(['packages/webhooks/src/outbound/post.ts'], without(inWebhooks, undici)),
    imports(
      [
        'packages/webhooks/src/{errors,schemas}.ts',
        'packages/webhooks/src/outbound/{address,destination,failure,network,next-step,sign}.ts',
        'packages/webhooks/src/receiver/**',
      ],
      [...inWebhooks, ...pure],
    ),
  ],
})
