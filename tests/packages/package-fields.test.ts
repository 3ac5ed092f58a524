import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { manifests, read, withFields } from '../../scripts/package-fields.ts'

t.test('each package has the fields of the root: else run scripts/package-fields.ts', async (t) => {
  t.ok(manifests().length >= 9)
  for (const file of manifests()) {
    t.equal(JSON.stringify(read(file)), JSON.stringify(withFields(file)), file)
  }
})

t.test('npm packs and publishes nothing, also below pnpm', async (t) => {
  for (const file of manifests()) {
    const { prepack, ...others } = read(file).scripts
    t.ok(prepack?.startsWith('node ../../scripts/assert-pnpm.ts && '), file)
    t.strictSame(others, {}, `${file}: pnpm leaves out no other script`)
  }
  const script = join(import.meta.dirname, '../../scripts/assert-pnpm.ts')
  const pack = (execpath: string) =>
    spawnSync(process.execPath, [script], {
      encoding: 'utf8',
      // npm inherits the first from pnpm, and sets the second itself.
      env: { npm_config_user_agent: 'pnpm/10.34.9 npm/?', npm_execpath: execpath },
    })
  const refused = pack('/usr/lib/node_modules/npm/bin/npm-cli.js')
  t.equal(refused.status, 1)
  t.match(refused.stderr, 'publish with pnpm')
  t.equal(pack('/usr/lib/node_modules/pnpm/bin/pnpm.cjs').status, 0)
})
