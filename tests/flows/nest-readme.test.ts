import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { emptyDatabase } from '../support/fresh-database.ts'
import { run } from '../support/packed-host.ts'
import { folderOf, freePort, runProgram } from '../support/program.ts'

const root = join(import.meta.dirname, '../..')
const readme = await readFile(join(root, 'packages/nest/README.md'), 'utf8')
const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'

t.test('the app of the README of @svc/nest runs, compiled as Nest compiles it', async (t) => {
  const [, app = ''] = /```ts\n(\/\/ main\.ts[^]*?)```/.exec(readme) ?? []
  // Its types are checked in tests/docs/code-blocks.test.ts.
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    noResolve: true,
    noCheck: true,
    types: [],
  }
  const folder = await folderOf(t, {
    'main.ts': app,
    'tsconfig.json': JSON.stringify({ compilerOptions, files: ['main.ts'] }),
  })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  t.match(run(folder, process.execPath, tsc, '-p', '.'), { output: '', status: 0 })

  const port = await freePort()
  const database = await emptyDatabase(t)
  const program = runProgram(t, folder, 'main.js', {
    DATABASE_URL: database,
    BOOTSTRAP_KEY,
    PORT: port,
  })
  await program.says(/Server listening/)
  const order = (key: string) =>
    fetch(`http://localhost:${port}/orders`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: '{ "item": "book" }',
    })
  t.equal((await order('wrong')).status, 401)
  t.equal((await order(BOOTSTRAP_KEY)).status, 201)
  await program.says(/ship \{ by: null, item: 'book' \}|ship \{ item: 'book', by: null \}/)
  const health = await (await fetch(`http://localhost:${port}/orders/health`)).json()
  t.match(health, { svc: { status: 'up' } })
  await program.end()
})
