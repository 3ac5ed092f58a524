/** What `changeset version` makes of the packages: a release, but for its publish. */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { manifests, read } from '../../scripts/package-fields.ts'

const ROOT = join(import.meta.dirname, '../..')

t.test('changesets raise all packages to one version, with a change log each', async (t) => {
  const folder = t.testdir()
  const files = [
    '.changeset/*',
    'pnpm-workspace.yaml',
    '{.,docs,bench,packages/*,tests}/package.json',
  ]
  const workspaces = ['tests/flows/hosts/tools/package.json', 'tests/nest/nest-11/package.json']
  for (const file of globSync([...files, ...workspaces], { cwd: ROOT })) {
    cpSync(join(ROOT, file), join(folder, file))
  }
  const written = (file: string) => readFileSync(join(folder, file), 'utf8')
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  // It would run a formatter that is not there.
  const config = JSON.parse(written('.changeset/config.json')) as object
  write('.changeset/config.json', JSON.stringify({ ...config, format: false }))
  write('.changeset/one.md', '---\n"@svc/core": minor\n---\n\nEvents have a colour.\n')
  write('.changeset/two.md', '---\n"@svc/cli": patch\n---\n\nThe help is shorter.\n')
  const changeset = join(ROOT, 'node_modules/@changesets/cli/bin.js')
  const ran = spawnSync(process.execPath, [changeset, 'version'], { cwd: folder, encoding: 'utf8' })
  t.equal(ran.status, 0, ran.stdout + ran.stderr)

  const [major, minor] = String(read('packages/core/package.json')['version']).split('.')
  const next = `${major}.${Number(minor) + 1}.0`
  for (const file of manifests()) {
    t.equal((JSON.parse(written(file)) as { version: string }).version, next, file)
    t.match(written(file.replace('package.json', 'CHANGELOG.md')), `\n## ${next}\n`)
  }
  t.match(written('packages/core/CHANGELOG.md'), /### Minor Changes\n\n- Events have a colour\./)
  t.match(written('packages/cli/CHANGELOG.md'), /### Patch Changes\n\n- The help is shorter\./)
})
