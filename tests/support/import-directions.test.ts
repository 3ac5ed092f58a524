import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import t from 'tap'

const root = join(import.meta.dirname, '..', '..')

const refused = [
  ['packages/core/src/core.ts', '@svc/auth'],
  ['packages/core/src/kv.ts', '../../webhooks/src/index.ts'],
  ['packages/auth/src/guard.ts', '@svc/webhooks'],
  ['packages/webhooks/src/inbound/receive.ts', '@svc/auth'],
  ['packages/webhooks/src/inbound/receive.ts', '../../../core/src/kv.ts'],
  ['packages/core/src/pump.ts', 'pg-boss'],
  ['packages/core/src/pump.ts', 'pg-boss/dist/types.js'],
  ['packages/webhooks/src/plugin.ts', 'pg-boss'],
  ['packages/webhooks/src/outbound/sign.ts', 'undici'],
  ['packages/core/src/plugin.ts', 'undici'],
  ['packages/auth/src/guard.ts', './plugin.ts'],
  ['packages/auth/src/users.ts', './index.ts'],
  ['packages/auth/src/users.ts', './guard/policy.ts'],
  ['packages/auth/src/operations/users.ts', '../routes/users.ts'],
  ['packages/auth/src/routes/users.ts', '../users.ts'],
  ['packages/auth/src/guard/keyring.ts', '../operations/users.ts'],
  ['packages/auth/src/guard/policy.ts', 'fastify'],
  ['packages/webhooks/src/registrations.ts', './outbound/deliver.ts'],
  ['packages/webhooks/src/inbound/receive.ts', '../outbound/deliver.ts'],
  ['packages/webhooks/src/outbound/deliver.ts', '../inbound/receive.ts'],
  ['packages/core/src/kv.ts', './core.ts'],
  ['packages/core/src/fairness.ts', './database.ts'],
  ['packages/auth/src/key.ts', 'pg'],
  ['packages/auth/src/key.ts', '@svc/core/kit'],
  ['packages/webhooks/src/outbound/next-step.ts', 'node:fs/promises'],
  ['packages/webhooks/src/outbound/address.ts', 'node:net'],
] as const

const allowed = [
  ['packages/core/src/queue.ts', 'pg-boss'],
  ['packages/webhooks/src/outbound/post.ts', 'undici'],
  ['packages/core/src/index.ts', './plugin.ts'],
  ['packages/auth/src/plugin.ts', '@svc/core/kit'],
  ['packages/auth/src/key.ts', 'node:crypto'],
  ['packages/auth/src/errors.ts', '@fastify/error'],
] as const

t.test('an import against the direction of the house is an error of the linter', async (t) => {
  const complaints = await lint(t, refused)

  for (const [file, from] of refused) {
    const found = complaints.some((one) => one.startsWith(file) && one.includes(`'${from}'`))
    t.ok(found, `${file} must not import ${from}`)
  }
})

t.test('the doors and the ways in are open', async (t) => {
  t.same(await lint(t, allowed), [])
})

/** Lints files that do nothing but import, under the project's own configuration. */
async function lint(
  t: Tap,
  imports: readonly (readonly [file: string, from: string])[],
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-lint-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const config = pathToFileURL(join(root, 'oxlint.config.ts'))
  await writeFile(join(folder, 'oxlint.config.ts'), `export { default } from '${config}'\n`)
  for (const [index, [file, from]] of imports.entries()) {
    const path = join(folder, file)
    await mkdir(dirname(path), { recursive: true })
    const before = await readFile(path, 'utf8').catch(() => '')
    await writeFile(path, `${before}import { connect as _${index} } from '${from}'\n`)
  }
  const report = await oxlint(folder)
  return report
    .filter(({ code }) => code === 'eslint(no-restricted-imports)')
    .map(({ filename, message }) => `${filename}: ${message}`)
}

interface Diagnostic {
  code: string
  message: string
  filename: string
}

async function oxlint(folder: string): Promise<Diagnostic[]> {
  const command = join(root, 'node_modules', '.bin', 'oxlint')
  // tap gives every Node process below it a loader, under which oxlint cannot start.
  const args = ['-u', 'NODE_OPTIONS', command, '--format=json', 'packages']
  const output = await new Promise<string>((resolve, reject) => {
    execFile('env', args, { cwd: folder }, (error, stdout) =>
      stdout ? resolve(stdout) : reject(error ?? new Error('oxlint says nothing')),
    )
  })
  return (JSON.parse(output) as { diagnostics: Diagnostic[] }).diagnostics
}

interface Tap {
  teardown(task: () => Promise<void>): unknown
}
