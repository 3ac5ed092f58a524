/** The programs of the READMEs run unchanged, and do what the READMEs say. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { emptyDatabase, freshDatabase } from '../support/fresh-database.ts'
import { run } from '../support/packed-host.ts'
import { folderOf, freePort, runProgram } from '../support/program.ts'
import { until } from '../support/until.ts'
import { askAt, ENVIRONMENT, keysOf, programsIn, start } from './guides/support/guides.ts'

const root = join(import.meta.dirname, '../..')
const programsOf = (name: string) => programsIn(join(root, 'packages', name, 'README.md'))

t.test('the app of the README of @svc/core', async (t) => {
  const { process, at } = await start(t, programsOf('core'))
  await process.says(/has started/)
  const ask = askAt(at('app.ts'))
  t.same(await ask('/orders', { item: 'book' }), { status: 201, body: { id: 1, item: 'book' } })
  const sent = await until(
    () => ask('/orders/sent'),
    ({ body }) => body.sent > 0,
  )
  t.same(sent.body, { sent: 1 })
  t.equal(await process.end(), 0)
  t.notMatch(process.printed, /^(?!\{|has started)./m, 'only its log')
})

t.test('the app of the README of @svc/auth', async (t) => {
  const { process, at } = await start(t, programsOf('auth'))
  await process.says(/has started/)
  const ask = askAt(at('app.ts'))
  t.match(await ask('/health', undefined, null), { status: 200 })
  t.match(await ask('/orders', undefined, null), { status: 401 })
  const [plain, billing] = await keysOf(ask, {}, { scopes: ['billing:read'] })
  t.match(await ask('/orders', undefined, plain), { status: 200, body: { for: String } })
  t.match(await ask('/invoices', undefined, plain), { status: 403 })
  t.match(await ask('/invoices', undefined, billing), { status: 200 })

  const customer = { email: 'bea@example.com', name: 'Bea' }
  t.match(await ask('/customers', customer, billing), { status: 403 })
  const { key: theirs } = (await ask('/customers', customer)).body
  t.match(await ask('/orders', undefined, theirs), { status: 200, body: { for: String } })
  t.match(await ask('/customers', customer), { status: 409 })
})

t.test(
  'the programs of the README of @svc/webhooks deliver an order to its receiver',
  async (t) => {
    const DATABASE_URL = await freshDatabase(t)
    const folder = await folderOf(t, programsOf('webhooks'))
    const ports = { app: await freePort(), receiver: await freePort() }
    const app = runProgram(t, folder, 'app.ts', { DATABASE_URL, PORT: ports.app })
    await app.says(/Server listening/)

    const ask = askAt(`http://localhost:${ports.app}`)
    const url = `http://127.0.0.1:${ports.receiver}/hook`
    const { secret } = (await ask('/_webhooks', { url, events: ['order.created'] })).body
    const environment = { WEBHOOK_SECRET: secret, PORT: ports.receiver }
    const receiver = runProgram(t, folder, 'receiver.ts', environment)
    await until(
      () =>
        fetch(url, { method: 'POST' }).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 401,
    )
    t.same((await ask('/orders', { item: 'book' })).body, { id: 1, item: 'book' })
    await receiver.says(/order\.created \{ id: 1, item: 'book' \} [0-9a-f-]{36}/)
  },
)

/** Compiles `main.ts` as Nest does, and starts it. Its types are checked in tests/docs/code-blocks.test.ts. */
async function startNest(t: Test, programs: Record<string, string>) {
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
    'main.ts': programs['main.ts']!,
    'tsconfig.json': JSON.stringify({ compilerOptions, files: ['main.ts'] }),
  })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  t.match(run(folder, process.execPath, tsc, '-p', '.'), { output: '', status: 0 })
  const PORT = await freePort()
  const DATABASE_URL = await emptyDatabase(t)
  const program = runProgram(t, folder, 'main.js', { ...ENVIRONMENT, DATABASE_URL, PORT })
  await program.says(/Server listening/)
  return { program, ask: askAt(`http://localhost:${PORT}`) }
}

t.test('the app of the README of @svc/nest', async (t) => {
  const { program, ask } = await startNest(t, programsOf('nest'))
  t.equal((await ask('/orders', { item: 'book' }, 'wrong')).status, 401)
  t.equal((await ask('/orders', { item: 'book' })).status, 201)
  await program.says(/ship \{ by: null, item: 'book' \}|ship \{ item: 'book', by: null \}/)
  t.match(await ask('/orders/health', undefined, null), { body: { svc: { status: 'up' } } })
  await program.end()
})

t.test('the app of the page about Nest, with options from another provider', async (t) => {
  const { program, ask } = await startNest(t, programsIn(join(root, 'docs/hosts/frameworks.md')))
  t.equal((await ask('/invoices', undefined, null)).status, 401)
  t.match(await ask('/invoices'), { status: 200, body: { invoices: [], of: null } })
  t.match(await ask('/invoices/prices', undefined, null), { status: 200, body: { prices: [] } })
  await program.end()
})
