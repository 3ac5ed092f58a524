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

t.test('a publish by npm is refused, and one by pnpm is not', async (t) => {
  for (const file of manifests()) {
    t.equal(read(file).scripts['prepublishOnly'], 'node ../../scripts/assert-pnpm.ts', file)
  }
  const script = join(import.meta.dirname, '../../scripts/assert-pnpm.ts')
  const publish = (agent: string) =>
    spawnSync(process.execPath, [script], {
      encoding: 'utf8',
      env: { npm_config_user_agent: agent },
    })
  const refused = publish('npm/11.0.0 node/v24.0.0')
  t.equal(refused.status, 1)
  t.match(refused.stderr, 'publish with pnpm')
  t.equal(publish('pnpm/10.34.9 npm/? node/v24.0.0').status, 0)
})
