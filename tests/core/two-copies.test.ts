// A host whose packages bring copies of core of their own, as a package manager may install them.
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { svcCore } from '@svc/core'
import type * as internal from '@svc/core/internal'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'

const ROOT = join(import.meta.dirname, '../..')
type Internal = typeof internal

/** A second copy of core, of that version. It is not in `node_modules`, where Node runs no TypeScript. */
async function copyOfCore(t: Test, version: string): Promise<Internal> {
  const core = join(ROOT, 'packages/core')
  await mkdir(join(ROOT, '.tap'), { recursive: true })
  const folder = await mkdtemp(join(ROOT, '.tap/core-'))
  t.teardown(() => rm(folder, { recursive: true }))
  for (const part of ['src', 'sql'])
    await cp(join(core, part), join(folder, part), { recursive: true })
  await symlink(join(core, 'node_modules'), join(folder, 'node_modules'))
  const manifest = JSON.parse(await readFile(join(core, 'package.json'), 'utf8')) as object
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }))
  return (await import(pathToFileURL(join(folder, 'src/internal.ts')).href)) as Internal
}

async function hostWith(t: Test, { bootOnCore }: Internal) {
  const warnings: { msg: string }[] = []
  const stream = { write: (line: string) => void warnings.push(JSON.parse(line)) }
  const app = Fastify({ logger: { level: 'warn', stream } })
  t.teardown(() => app.close())
  const database = await freshDatabase(t)
  await app.register(svcCore, { database, worker: { enabled: false } })
  bootOnCore(
    app,
    '@svc/auth',
    async () => {},
    () => {},
  )
  return { app, warnings }
}

t.test('a package of another version does not boot, and the error names both', async (t) => {
  const { app } = await hostWith(t, await copyOfCore(t, '0.9.0'))
  await t.rejects(async () => app.ready(), {
    code: 'SVC_CORE_VERSIONS_DIFFER',
    message:
      /@svc\/auth uses @svc\/core 0\.9\.0 in .*, and the host has registered @svc\/core 0\.1\.0/,
  })
})

t.test('core that is loaded twice in one version boots with a warning', async (t) => {
  const { version } = JSON.parse(
    await readFile(join(ROOT, 'packages/core/package.json'), 'utf8'),
  ) as { version: string }
  const { app, warnings } = await hostWith(t, await copyOfCore(t, version))
  await app.ready()
  t.match(warnings, [{ msg: /^@svc\/core is loaded twice/, package: '@svc/auth' }])
})
