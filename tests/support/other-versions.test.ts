import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { newestOf, splitArguments } from './other-versions.ts'
import { folderOf, runProgram } from './program.ts'

t.test('versions are told from the other arguments of a run', async (t) => {
  t.strictSame(
    splitArguments(['--with', 'node@22.19', 'tests/core', '--with=fastify@6', '--bail']),
    {
      versions: ['node@22.19', 'fastify@6'],
      others: ['tests/core', '--bail'],
    },
  )
})

t.test(
  'the newest version is taken, and one that is not out yet where there is no other',
  async (t) => {
    const all = [
      '5.0.0-alpha.1',
      '5.0.0',
      '5.0.1',
      '5.10.0',
      '5.12.8',
      '6.0.0-alpha.0',
      '6.0.0-alpha.4',
    ]
    const cases = {
      '5': '5.12.8',
      '5.0': '5.0.1',
      '5.0.0': '5.0.0',
      '5.1': undefined,
      '6': '6.0.0-alpha.4',
      '6.0.0-alpha.0': '6.0.0-alpha.0',
      '7': undefined,
      latest: '5.12.8',
    }
    for (const [wanted, version] of Object.entries(cases)) {
      t.equal(newestOf(all, wanted), version, wanted)
    }
  },
)

t.test('all code of a run gets the other Fastify, however it asks for it', async (t) => {
  const folder = await folderOf(t, {
    'a.mjs': `import { createRequire } from 'node:module'
      import own from 'fastify'
      console.log(own, createRequire(import.meta.url)('fastify'), (await import('fastify')).default)`,
  })
  const other = await mkdtemp(join(tmpdir(), 'svc-other-'))
  t.teardown(() => rm(other, { recursive: true }))
  await mkdir(join(other, 'node_modules/fastify'), { recursive: true })
  await writeFile(join(other, 'node_modules/fastify/index.js'), `module.exports = 'the other'`)
  const hook = pathToFileURL(join(import.meta.dirname, 'other-fastify.ts'))
  hook.searchParams.set('folder', other)
  const program = runProgram(t, folder, 'a.mjs', { NODE_OPTIONS: `--import=${hook.href}` })
  t.equal(await program.ended(), 0)
  t.equal(program.printed, 'the other the other the other\n')
})
