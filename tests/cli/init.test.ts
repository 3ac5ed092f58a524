/** `svc init`: what it makes and what it edits boots, on a real Postgres. */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { emptyDatabase } from '../support/fresh-database.ts'
import { runProgram } from '../support/program.ts'
import { svc } from '../support/svc-command.ts'
import { openReceiver } from '../support/receiver.ts'

const ROOT = join(import.meta.dirname, '../..')

/** A folder with these files and what is installed here. */
async function folderWith(t: Test, files: Record<string, string> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-init-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

/** All files of a folder, by name. */
async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile())
  const texts = names.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name)
    return [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const
  })
  return Object.fromEntries(await Promise.all(texts))
}

/** As `npx svc secret >> .env` makes them. */
async function secrets(t: Test): Promise<Record<string, string>> {
  const { lines } = await svc(t, ['secret'])
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)))
}

/** Boots the application of a folder, and asks a route with and without a key. */
async function boots(
  t: Test,
  folder: string,
  name: string,
  run?: (url: string, key: string) => Promise<void>,
): Promise<void> {
  const keys = await secrets(t)
  const environment = { ...keys, DATABASE_URL: await emptyDatabase(t), PORT: '0' }
  const program = runProgram(t, folder, name, environment)
  const [, url = ''] = await program.says(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  t.equal((await fetch(`${url}/_webhooks`)).status, 401, `${name} has a guard`)
  const headers = { 'x-api-key': keys['BOOTSTRAP_KEY']! }
  t.equal((await fetch(`${url}/_webhooks`, { headers })).status, 200, `${name} has webhooks`)
  await run?.(url, keys['BOOTSTRAP_KEY']!)
  await program.end()
}

t.test('init makes an application in a new folder, which boots, and makes it once', async (t) => {
  const folder = await folderWith(t)
  const made = await svc(t, ['init', 'My Shop'], {}, { folder })
  t.match(made, { exitCode: 0, errors: [] })
  const app = join(folder, 'My Shop')
  const files = await filesOf(app)
  t.same(Object.keys(files).toSorted(), [
    '.env.example',
    '.gitignore',
    'app.js',
    'docker-compose.yml',
    'package.json',
  ])
  for (const name of Object.keys(files)) t.ok(made.lines.includes(`made   ${name}`), name)
  t.match(JSON.parse(files['package.json']!), {
    name: 'my-shop',
    type: 'module',
    scripts: { start: 'node --env-file=.env app.js' },
    dependencies: { fastify: '^5.0.0', '@svc/core': '^0.1.0', '@svc/webhooks': '^0.1.0' },
  })
  t.match(
    made.text,
    /next:\n {2}cd My Shop\n {2}npm install\n[^]*npx svc secret >> \.env[^]*npm start/,
  )
  await boots(t, app, 'app.js', async (url, key) => {
    const local = await openReceiver(t)
    const registered = await fetch(`${url}/_webhooks`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ url: local.url, events: ['order.created'] }),
    })
    const { id } = (await registered.json()) as { id: string }
    const args = ['send', 'order.created', '--via', id, '--url', url]
    t.match(await svc(t, args, { SVC_KEY: key }), { exitCode: 0 }, 'a webhook on this machine')
    t.match(await local.waitFor(1), [{ body: { payload: { item: 'tea' } } }])
  })

  const again = await svc(t, ['init', 'My Shop'], {}, { folder })
  t.same(again.lines, [
    'kept   app.js',
    'kept   .env.example',
    'kept   docker-compose.yml',
    'everything is there: nothing was changed',
  ])
  t.equal(again.exitCode, 0)
  t.same(await filesOf(app), files)
})

const TYPESCRIPT = `import "node:os";
import Fastify, {
  type FastifyInstance,
} from "fastify";

// app.listen({ port: 3000 }) is below.
const app: FastifyInstance = Fastify({ logger: true });
app.get("/", async () => \`it's
// "open"\`);

async function start(): Promise<void> {
  try {
    await app.listen({ port: Number(process.env.PORT) });
  } catch (error) {
    app.log.error(error);
    process.exit(1);
  }
}
void start();
`

const COMMONJS = `'use strict'
const path = require('node:path')
const fastify = require('fastify')({ logger: true })

fastify.get('/', async () => path.sep)

fastify.listen({ port: Number(process.env.PORT) }, (err) => {
  if (err) throw err
})
`

t.test('init adds the plugins to an application, in the way the file is written', async (t) => {
  const folder = await folderWith(t, {
    'package.json': '{ "type": "module" }',
    'src/server.ts': TYPESCRIPT,
    'src/orders.ts': 'export const orders = []\n',
    'test/server.test.ts': TYPESCRIPT,
    '.env.example': 'PORT=3000\n# DATABASE_URL=',
    'compose.yaml': 'services:\n  db:\n    image: docker.io/postgres:16\n',
  })
  const before = await filesOf(folder)
  const done = await svc(t, ['init'], {}, { folder })
  t.match(done, { exitCode: 0, errors: [] })
  t.same(done.lines.slice(0, 3), [
    'added  the plugins to src/server.ts',
    'added  BOOTSTRAP_KEY, ENCRYPTION_KEY to .env.example',
    'kept   compose.yaml',
  ])
  t.match(
    done.text,
    /next:\n {2}npm install @svc\/core @svc\/auth @svc\/webhooks\n {2}npm install --save-dev @svc\/cli\n/,
  )
  const after = await filesOf(folder)
  const added = `    await app.register(svcCore, { encryption: { secretNames: ["ENCRYPTION_KEY"] } });
    await app.register(svcAuth, { bootstrapKeySecret: "BOOTSTRAP_KEY" });
    await app.register(svcWebhooks, { allowedEvents: ["order.created"] });
`
  const imported = `import { svcCore } from "@svc/core";
import { svcAuth } from "@svc/auth";
import { svcWebhooks } from "@svc/webhooks";
`
  t.equal(
    after['src/server.ts'],
    TYPESCRIPT.replace('import Fastify', `${imported}import Fastify`).replace(
      '    await app.listen',
      `${added}    await app.listen`,
    ),
  )
  t.match(
    after['.env.example'],
    /^PORT=3000\n# DATABASE_URL=\n# An API key[^]*\n# ENCRYPTION_KEY=\n$/,
  )
  for (const name of ['package.json', 'src/orders.ts', 'test/server.test.ts', 'compose.yaml']) {
    t.equal(after[name], before[name], `${name} is as it was`)
  }
  t.equal(Object.keys(after).length, Object.keys(before).length)
  await boots(t, folder, 'src/server.ts')

  const again = await svc(t, ['init', '.'], {}, { folder })
  t.match(again, { exitCode: 0, lines: [/^kept/, /^kept/, /^kept/, /nothing was changed/] })
  t.same(await filesOf(folder), after)
})

t.test('init adds the plugins to an application in CommonJS', async (t) => {
  const folder = await folderWith(t, { 'package.json': '{}', 'index.cjs': COMMONJS })
  t.match(await svc(t, ['init'], {}, { folder }), { exitCode: 0 })
  const { 'index.cjs': text } = await filesOf(folder)
  t.match(text, /^'use strict'\nconst path = .*\nconst \{ svcCore \} = require\('@svc\/core'\)\n/)
  t.match(text, /\nfastify\.register\(svcWebhooks, .*\)\nfastify\.listen/)
  await boots(t, folder, 'index.cjs')
})

t.test('where no file can be edited safely, init prints what to add and ends with 1', async (t) => {
  const server = (listen: string) =>
    ["import Fastify from 'fastify'", 'const app = Fastify()', listen, ''].join('\n')
  const cases: [Record<string, string>, RegExp][] = [
    [{ 'app.js': 'export default async (app) => {}\n' }, /no file with a Fastify instance listens/],
    [
      { 'a.js': server('app.listen()'), 'b.js': server('app.listen()') },
      /several files listen \((?:a.js, b.js|b.js, a.js)\)/,
    ],
    [{ 'app.js': server('run(() => app.listen())') }, /app.js could not be edited: listen\(\) is/],
  ]
  for (const [files, says] of cases) {
    const folder = await folderWith(t, { 'package.json': '{}', ...files })
    const before = await filesOf(folder)
    const { exitCode, text } = await svc(t, ['init'], {}, { folder })
    t.equal(exitCode, 1)
    t.match(text, says)
    t.match(text, /\nimport \{ svcCore \} from[^]*\nawait app\.register\(svcCore, /)
    const { '.env.example': _, 'docker-compose.yml': __, ...after } = await filesOf(folder)
    t.same(after, before)
  }
})

t.test('what init prints is written as the file is, and only what is lacking', async (t) => {
  const cases: [string, string, RegExp[], RegExp][] = [
    [
      'server.js',
      "const server = require('fastify')()\nrun(() => server.listen())\n",
      [/const \{ svcCore \} = require\('@svc\/core'\)/, /\nserver\.register\(svcAuth, /],
      /import \{|await server/,
    ],
    [
      'server.mjs',
      "import Fastify from 'fastify'\nimport { svcCore } from '@svc/core'\nconst app = Fastify()\nawait app.register(svcCore)\nawait app.listen()\n",
      [/server\.mjs does not use @svc\/auth and @svc\/webhooks/, /await app\.register\(svcAuth, /],
      /register\(svcCore/,
    ],
  ]
  for (const [name, source, says, notThat] of cases) {
    const folder = await folderWith(t, {
      'package.json': '{}',
      '.gitignore': 'dist',
      [name]: source,
    })
    const { exitCode, text } = await svc(t, ['init'], {}, { folder })
    t.equal(exitCode, 1)
    for (const what of says) t.match(text, what)
    t.notMatch(text, notThat)
    const after = await filesOf(folder)
    t.equal(after['.gitignore'], 'dist\n.env\n')
    t.equal(after[name], source)
  }
})

t.test(
  'a compose file without Postgres is left as it is, and its service is printed',
  async (t) => {
    const compose = 'services:\n  cache:\n    image: valkey\n'
    const folder = await folderWith(t, { 'compose.yml': compose })
    const { exitCode, text } = await svc(t, ['init'], {}, { folder })
    t.equal(exitCode, 1)
    t.match(
      text,
      /to do {2}compose\.yml has no Postgres[^]*\n {2}postgres:\n {4}image: postgres:18/,
    )
    t.equal((await filesOf(folder))['compose.yml'], compose)
  },
)

t.test(
  'in a package without code init makes a module that runs whatever its type is',
  async (t) => {
    const manifest = '{ "name": "shop", "type": "commonjs" }'
    const folder = await folderWith(t, { 'package.json': manifest, 'eslint.config.js': '' })
    const { exitCode, text } = await svc(t, ['init'], {}, { folder })
    t.equal(exitCode, 0)
    t.match(
      text,
      /made {3}app\.mjs[^]*npm install fastify @svc\/core[^]*node --env-file=\.env app\.mjs/,
    )
    t.equal((await filesOf(folder))['package.json'], manifest)
  },
)

t.test('init says what is wrong with a folder', async (t) => {
  const folder = await folderWith(t, { file: '', 'broken/package.json': '{' })
  t.match(await svc(t, ['init', 'file'], {}, { folder }), { exitCode: 2, errors: [/is a file/] })
  t.match(await svc(t, ['init', 'broken'], {}, { folder }), { exitCode: 1, errors: [/not JSON/] })
  t.match(await svc(t, ['init', 'a', 'b'], {}, { folder }), { exitCode: 2 })
})
