import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const hook = pathToFileURL(join(import.meta.dirname, 'support/nest-11.ts')).href
const env = {
  ...process.env,
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${hook}`,
}

t.test('all stories of @svc/nest hold with Nest 11', async (t) => {
  const version = `import '@nestjs/core'; console.log((await import('@nestjs/core/package.json', { with: { type: 'json' } })).default.version)`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', version], { env })
  t.match(stdout, /^11\./)
  for (const file of ['guard.test.ts', 'module.test.ts', 'sentry.test.ts']) {
    await t.resolves(run(process.execPath, [join(import.meta.dirname, file)], { env }), file)
  }
})
