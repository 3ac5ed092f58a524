import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import t from 'tap'

const root = join(import.meta.dirname, '..', '..')

const refused = [
  ['packages/core/src/core.ts', '@svc/auth'],
  ['packages/core/src/kv/key-value-store.ts', '../../../webhooks/src/index.ts'],
  ['packages/auth/src/guard/guard.ts', '@svc/webhooks'],
  ['packages/receiver/src/hmac.ts', '@svc/core'],
  ['packages/receiver/src/hmac.ts', 'node:fs'],
  ['packages/providers/src/provider.ts', 'fastify'],
  ['packages/providers/src/provider.ts', '@svc/core/internal'],
  ['packages/providers/src/provider.ts', 'node:fs'],
  ['packages/providers/src/engine/row.ts', '../provider.ts'],
  ['packages/providers/src/presets/code.ts', '../engine/text.ts'],
  ['packages/webhooks/src/inbound/verify.ts', '../../../providers/src/helpers.ts'],
  ['packages/webhooks/src/index.ts', '../../receiver/src/index.ts'],
  ['packages/webhooks/src/inbound/receive.ts', '@svc/auth'],
  ['packages/webhooks/src/inbound/receive.ts', '../../../core/src/kv/key-value-store.ts'],
  ['packages/core/src/jobs/pump/pump.ts', 'pg-boss'],
  ['packages/core/src/jobs/pump/pump.ts', 'pg-boss/dist/types.js'],
  ['packages/webhooks/src/plugin.ts', 'pg-boss'],
  ['packages/webhooks/src/outbound/delivery/sign.ts', 'undici'],
  ['packages/core/src/plugin.ts', 'undici'],
  ['packages/webhooks/src/inbound/reply.ts', 'node:http'],
  ['packages/auth/src/guard/guard.ts', '../plugin.ts'],
  ['packages/auth/src/tables/users.ts', '../index.ts'],
  ['packages/auth/src/tables/users.ts', '../guard/policy/route-policy.ts'],
  ['packages/auth/src/usage/usage-counter.ts', '../guard/guard.ts'],
  ['packages/auth/src/operations/users.ts', '../routes/users.ts'],
  ['packages/auth/src/routes/users.ts', '../tables/users.ts'],
  ['packages/auth/src/guard/keys/key-cache.ts', '../../operations/users.ts'],
  ['packages/auth/src/guard/policy/route-policy.ts', 'fastify'],
  ['packages/webhooks/src/tables/webhooks.ts', '../outbound/delivery/delivery-worker.ts'],
  ['packages/webhooks/src/tables/stats.ts', '../outbound/health/health-watch.ts'],
  ['packages/webhooks/src/inbound/receive.ts', '../outbound/delivery/delivery-worker.ts'],
  ['packages/webhooks/src/outbound/delivery/delivery-worker.ts', '../../inbound/receive.ts'],
  ['packages/core/src/kv/key-value-store.ts', '../core.ts'],
  ['packages/core/src/jobs/recipients/recipient-limits.ts', '../../postgres/pools.ts'],
  ['packages/core/src/jobs/pump/pump.ts', '../../events/publish.ts'],
  ['packages/core/src/postgres/pools.ts', '../jobs/queues.ts'],
  ['packages/core/src/jobs/pg-boss/boss.ts', '../pump/pump.ts'],
  ['packages/core/src/jobs/pg-boss/boss.ts', '../recipients/recipient-states.ts'],
  ['packages/core/src/tenants/tenants.ts', '../audit/audit-table.ts'],
  ['packages/core/src/processes/process-lease.ts', '../events/subscriptions-table.ts'],
  ['packages/core/src/options/check-options.ts', '../http/error-body.ts'],
  ['packages/auth/src/tables/allowances.ts', '../limits/limiter.ts'],
  ['packages/auth/src/guard/lockout/lockout.ts', '../keys/key-cache.ts'],
  ['packages/webhooks/src/outbound/health/disable-and-resume.ts', '../../operations/webhooks.ts'],
  ['packages/webhooks/src/outbound/recoveries/recover.ts', '../health/disable-and-resume.ts'],
  ['packages/cli/src/program.ts', '../../core/src/core.ts'],
  ['packages/cli/src/program.ts', 'pg-boss'],
  ['packages/console/src/access/sessions.ts', '../calls/keys.ts'],
  ['packages/auth/src/key-format.ts', 'pg'],
  ['packages/auth/src/key-format.ts', '@svc/core/internal'],
  ['packages/webhooks/src/outbound/http/blocked-addresses.ts', 'node:net'],
] as const

const allowed = [
  ['packages/core/src/jobs/pg-boss/boss.ts', 'pg-boss'],
  ['packages/webhooks/src/outbound/http/post.ts', 'undici'],
  ['packages/core/src/index.ts', './plugin.ts'],
  ['packages/core/src/upkeep/migrate-all.ts', '../core.ts'],
  ['packages/core/src/events/publish.ts', '../jobs/job.ts'],
  ['packages/auth/src/plugin.ts', '@svc/core/internal'],
  ['packages/webhooks/src/operations/webhooks.ts', '../outbound/pause.ts'],
  ['packages/auth/src/key-format.ts', 'node:crypto'],
  ['packages/auth/src/errors.ts', '@fastify/error'],
  ['packages/receiver/src/hmac.ts', 'node:crypto'],
  ['packages/providers/src/engine/jwt.ts', 'jose'],
  ['packages/providers/src/engine/row.ts', 'node:crypto'],
  ['packages/webhooks/src/inbound/verify.ts', '@svc/providers/internal'],
  ['packages/receiver/src/hmac.ts', './headers.ts'],
] as const

t.test('an import in a direction that is not allowed is an error of the linter', async (t) => {
  const complaints = await lint(t, refused)

  for (const [file, from] of refused) {
    const found = complaints.some((one) => one.startsWith(file) && one.includes(`'${from}'`))
    t.ok(found, `${file} must not import ${from}`)
  }
})

t.test('allowed imports are no errors', async (t) => {
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
