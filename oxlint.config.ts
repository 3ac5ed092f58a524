import { defineConfig } from 'oxlint'

import { importDirections } from './scripts/import-directions.ts'

export default defineConfig({
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'node'],
  categories: { correctness: 'error' },
  ignorePatterns: ['**/dist/**', '**/web-dist/**', '.tap/**', 'docs/.vitepress/{cache,dist}/**'],
  rules: {
    // A query that nobody waits for fails unheard, or runs after its transaction.
    'typescript/no-floating-promises': [
      'error',
      // tap waits for its subtests itself, and node:test for its tests.
      {
        allowForKnownSafePromises: [
          { from: 'package', package: '@tapjs/core', name: 'PromiseWithSubtest' },
        ],
        allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: 'test' }],
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
    'typescript/require-array-sort-compare': 'off',
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
  },
  overrides: [
    // A library says nothing on the console, and does not end its host.
    {
      files: ['packages/*/src/**'],
      rules: { 'no-console': 'error', 'unicorn/no-process-exit': 'error' },
    },
    // Of core no part needs a part that needs it, not even for a type: each can be read after those it imports.
    {
      files: ['packages/core/src/**'],
      rules: { 'import/no-cycle': ['error', { ignoreTypes: false }] },
    },
    ...importDirections,
  ],
})
