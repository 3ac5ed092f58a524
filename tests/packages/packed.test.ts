// One file, since two that pack at the same time would build into the same folders.
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { page, recipe } from '../flows/hosts/support/page.ts'
import { emptyDatabase } from '../support/fresh-database.ts'
import { freePort, runProgram } from '../support/program.ts'
import { apiReport } from './api-report.ts'
import { HOST_PACKAGES, makePackedHost, run, WORKSPACE } from '../support/packed-host.ts'

const host = makePackedHost([
  '@fastify/request-context',
  '@types/node',
  '@types/pg',
  'fastify',
  'pg',
])
t.teardown(() => rmSync(host, { recursive: true, force: true }))
const BIN = join(WORKSPACE, 'tests/node_modules/.bin')
const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'
const tsc = join(WORKSPACE, 'node_modules/typescript/bin/tsc')
const strictest = {
  target: 'es2024',
  lib: ['es2024'],
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  noEmit: true,
}

// tests/types/pg-boss.ts compares with declarations of pg-boss that do not compile by themselves.
const sources = globSync(join(WORKSPACE, 'tests/types/*.ts')).filter(
  (file) => basename(file) !== 'pg-boss.ts',
)
for (const file of sources) copyFileSync(file, join(host, basename(file)))

for (const moduleResolution of ['nodenext', 'bundler']) {
  t.test(`a strict host compiles: ${moduleResolution}`, async (t) => {
    const module = moduleResolution === 'bundler' ? 'esnext' : 'nodenext'
    const config = join(host, `${moduleResolution}.json`)
    // Whatever compiles so compiles with skipLibCheck as well.
    const compilerOptions = { ...strictest, module, moduleResolution, skipLibCheck: false }
    writeFileSync(config, JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    t.equal(run(host, process.execPath, tsc, '-p', config).output, '')
  })
}

t.test('the import in an older Node throws an error with the required version', async (t) => {
  for (const name of HOST_PACKAGES) {
    const manifest = readFileSync(join(WORKSPACE, 'packages', name, 'package.json'), 'utf8')
    const { engines } = JSON.parse(manifest) as { engines: { node: string } }
    t.equal(engines.node, '>=22.19')
  }
  for (const old of ['22.18.0', '20.20.2']) {
    const needed = `Error: @svc/core, @svc/auth and @svc/webhooks need Node 22.19 or newer, and this process runs Node ${old}`
    for (const answer of answersOf(old)) t.equal(answer, needed)
  }
  for (const newEnough of ['22.19.0', '24.0.0']) {
    t.strictSame(
      answersOf(newEnough),
      HOST_PACKAGES.map(() => 'imported'),
      newEnough,
    )
  }
})

t.test('what is public is as it was reviewed: else run this file with UPDATE_API=1', async (t) => {
  const reports = join(import.meta.dirname, 'api')
  for (const name of [
    'core',
    'auth',
    'webhooks',
    'console',
    'nest',
    'receiver',
    'providers',
    'testing',
  ]) {
    const report = apiReport(join(host, 'node_modules/@svc', name))
    const file = join(reports, `${name}.txt`)
    if (process.env['UPDATE_API'] === '1') writeFileSync(file, report)
    t.equal(report, readFileSync(file, 'utf8'), name)
  }
})

t.test('a package checks the version of Node before any other import', async (t) => {
  for (const name of HOST_PACKAGES) {
    const entry = readFileSync(join(host, 'node_modules/@svc', name, 'dist/index.js'), 'utf8')
    const [first] = /^(?:import|export)\b.*/m.exec(entry) ?? []
    t.match(first, name === 'core' ? '"./node-version.js"' : '"@svc/core/node-version"')
  }
})

t.test('a host in CommonJS can require the packages, and import the testing kit', async (t) => {
  const program = `
    for (const name of ${JSON.stringify(HOST_PACKAGES)}) require('@svc/' + name)
    import('@svc/testing').then(({ signed }) =>
      console.log(signed('github', { a: 1 }, { secret: 'x' }).payload))`
  t.match(run(host, process.execPath, '--input-type=commonjs', '--eval', program), {
    status: 0,
    output: '{"a":1}\n',
  })
})

t.test('the program in CommonJS of the page serves', async (t) => {
  writeFileSync(join(host, 'server.cjs'), recipe('server.cjs', 'js'))
  const PORT = await freePort()
  const environment = { DATABASE_URL: await emptyDatabase(t), BOOTSTRAP_KEY, PORT }
  const program = runProgram(t, host, 'server.cjs', environment)
  await program.says(/Server listening/)
  t.equal((await fetch(`http://localhost:${PORT}/orders`)).status, 401)
})

t.test('an import that becomes a require compiles as the page says, and runs', (t) => {
  const folder = join(host, 'common')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }')
  writeFileSync(
    join(folder, 'app.ts'),
    "import { svcAuth } from '@svc/auth'\nimport { svcCore } from '@svc/core'\nconsole.log([svcCore, svcAuth].length)",
  )
  const rows = [...page.matchAll(/^\| `(\w+)` +\| `(\w+)` +\| (compiles|error (TS\d+))/gm)]
  t.equal(rows.length, 4)
  for (const [, module = '', moduleResolution, , error] of rows) {
    const config = join(folder, 'tsconfig.json')
    const { noEmit: _, verbatimModuleSyntax: __, ...options } = strictest
    // The declarations themselves are checked above.
    const resolution = { module, moduleResolution, skipLibCheck: true }
    const compilerOptions = { ...options, ...resolution, outDir: '.' }
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ['app.ts'] }))
    const { output } = run(folder, process.execPath, tsc, '-p', config)
    if (error === undefined) t.equal(output, '', module)
    else t.match(output, error)
    t.match(run(folder, process.execPath, 'app.js'), { status: 0, output: '2\n' }, module)
  }
  t.end()
})

t.test('jest and vitest run a test of a host', async (t) => {
  const folder = join(host, 'runners')
  mkdirSync(folder)
  const [, settings] = /`("jest": \{.*?\} \})`/.exec(page) ?? []
  writeFileSync(join(folder, 'package.json'), `{ "type": "module", ${settings} }`)
  writeFileSync(join(folder, 'orders.test.js'), recipe('orders.test.js', 'js'))
  const tools = join(WORKSPACE, 'tests/flows/hosts/tools/node_modules')
  const DATABASE_URL = await emptyDatabase(t)
  const runner = (...command: string[]) => run(folder, `DATABASE_URL=${DATABASE_URL}`, ...command)
  const jest = [process.execPath, join(tools, 'jest/bin/jest.js')]
  const withFlag = [jest[0]!, '--experimental-vm-modules', jest[1]!]
  t.match(runner('CI=true', ...withFlag), { status: 0, output: /1 passed/ })
  t.match(runner('CI=true', ...jest), { status: 1, output: /ES Module/ }, 'without the flag')
  const vitest = [process.execPath, join(tools, 'vitest/vitest.mjs'), 'run', '--globals']
  for (const pool of ['forks', 'threads']) {
    t.match(runner('NO_COLOR=1', ...vitest, `--pool=${pool}`), { status: 0, output: /1 passed/ })
  }
})

t.test('what is published finds its own files', async (t) => {
  const database = await emptyDatabase(t)
  const svc = join(host, 'node_modules/@svc/cli/dist/svc.js')
  const migrated = run(host, `DATABASE_URL=${database}`, process.execPath, svc, 'migrate')
  t.match(migrated, { status: 0, output: /webhooks/ })
  const program = `
    import fastify from 'fastify'
    import { svcCore } from '@svc/core'
    import { svcAuth } from '@svc/auth'
    import { svcWebhooks } from '@svc/webhooks'
    import { svcConsole } from '@svc/console'
    import { providers } from '@svc/providers'
    const app = fastify()
    await app.register(svcCore, { database: ${JSON.stringify(database)} })
    await app.register(svcAuth)
    await app.register(svcWebhooks, { allowedEvents: ['order.created'] })
    await app.register(svcConsole)
    const page = await app.inject('/console/')
    await app.close()
    console.log(providers.list().length > 100, page.statusCode, page.headers['content-type'])`
  t.match(run(host, process.execPath, '--input-type=module', '--eval', program), {
    status: 0,
    output: 'true 200 text/html; charset=utf-8\n',
  })
})

t.test('a bundle of a host boots and serves where the packages are external', async (t) => {
  writeFileSync(join(host, 'server.ts'), recipe('server.ts'))
  const commands = [...page.matchAll(/^esbuild (?:\\\n|.)+/gm)]
  t.equal(commands.length, 2)
  for (const [command] of commands) {
    const built = run(host, `PATH=${BIN}:${process.env['PATH']}`, 'sh', '-c', command)
    t.equal(built.status, 0, built.output)
    const PORT = await freePort()
    const environment = { DATABASE_URL: await emptyDatabase(t), BOOTSTRAP_KEY, PORT }
    const program = runProgram(t, host, 'dist/server.js', environment)
    await program.says(/Server listening/)
    const ask = (key: string) =>
      fetch(`http://localhost:${PORT}/orders`, { headers: { 'x-api-key': key } })
    t.equal((await ask('wrong')).status, 401)
    t.equal((await ask(BOOTSTRAP_KEY)).status, 200)
    t.equal(await program.end(), null)
  }
})

const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);"

t.test('a bundle with a package in it does not boot, and says what to leave out', async (t) => {
  const source = join(host, 'bundled.ts')
  for (const [name, external, asks] of [
    ['core', [], '@svc/core'],
    ['auth', [], '@svc/core'],
    ['auth', ['--external:@svc/core'], '@svc/auth'],
    ['webhooks', ['--external:@svc/core'], '@svc/webhooks'],
    ['console', ['--external:@svc/core'], '@svc/console'],
  ] as const) {
    writeFileSync(source, `import * as plugin from '@svc/${name}'\nconsole.log(plugin)`)
    for (const format of ['esm', 'cjs']) {
      // Below a package.json, which is not the package's.
      const outfile = `dist/bundled.${format === 'esm' ? 'mjs' : 'cjs'}`
      const options = ['--bundle', '--platform=node', `--format=${format}`, ...external]
      // Without it packages in CommonJS may fail first, as the page says.
      if (format === 'esm') options.push(`--banner:js=${REQUIRE}`)
      const built = run(host, join(BIN, 'esbuild'), source, ...options, `--outfile=${outfile}`)
      t.equal(built.status, 0, built.output)
      const { status, output } = run(host, process.execPath, outfile)
      t.equal(status, 1)
      t.match(output, `Error: ${asks} is in a bundle`)
      t.match(output, /--packages=external or --external:@svc\/\* of esbuild/)
    }
  }
})

t.test('the receiver has no dependencies', async (t) => {
  const folder = join(host, 'node_modules/@svc/receiver')
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object
  for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies']) {
    t.notOk(Object.hasOwn(manifest, kind), kind)
  }
  const program = `
    const own = await import('@svc/receiver')
    const { verifyDelivery } = await import('@svc/webhooks/receiver')
    console.log(own.verifyDelivery === verifyDelivery)`
  t.match(run(host, process.execPath, '--input-type=module', '--eval', program), {
    status: 0,
    output: 'true\n',
  })
})

/** What comes of importing each of the packages in a Node that says it is another version. */
function answersOf(version: string): string[] {
  const program = `
    const versions = { ...process.versions, node: '${version}' }
    Object.defineProperty(process, 'versions', { value: versions })
    for (const name of ${JSON.stringify(HOST_PACKAGES)}) {
      console.log(await import('@svc/' + name).then(() => 'imported', String))
    }`
  return run(host, process.execPath, '--input-type=module', '--eval', program)
    .output.trim()
    .split('\n')
}
