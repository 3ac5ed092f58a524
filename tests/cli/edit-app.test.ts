/** Which files `svc init` edits, and where its lines go. */
import t from 'tap'
import { edited, listens } from '../../packages/cli/src/init/edit-app.ts'

const IMPORT = "import Fastify from 'fastify'"
const APP = 'const app = Fastify()'
/** The neighbour that makes instances. */
const loads = (path: string) => path === './app.js'
const lines = (...all: string[]) => all.join('\n')

/** What was added, by the line that follows it. */
function additions(source: string): Record<string, string[]> {
  const { text = '' } = edited(source, loads)
  const known = source.split('\n')
  const added: Record<string, string[]> = {}
  let block: string[] = []
  let at = 0
  for (const line of text.split('\n')) {
    if (line !== known[at]) {
      block.push(line)
      continue
    }
    if (block.length > 0) added[line.trim()] = block
    block = []
    at += 1
  }
  return added
}

t.test('the plugins are registered before the statement that listens', async (t) => {
  const cases: [source: string, before: string, firstLine: string][] = [
    [lines(IMPORT, APP, 'await app.listen()'), 'await app.listen()', 'await app.register('],
    [
      lines(IMPORT, 'interface Order { item: string }', APP, 'await app.listen()'),
      'await app.listen()',
      'await app.register(',
    ],
    [
      lines(IMPORT, 'type Order = {', '  item: string', '}', APP, 'await app.listen()'),
      'await app.listen()',
      'await app.register(',
    ],
    [lines(IMPORT, APP, 'void app.listen()'), 'void app.listen()', 'app.register('],
    [lines(IMPORT, APP, 'app', '  .listen()'), 'app', 'app.register('],
    [
      lines(IMPORT, APP, 'const url = await app.listen()'),
      'const url = await app.listen()',
      'await app.register(',
    ],
    [
      lines(IMPORT, APP, 'function start() {', '\treturn app.listen()', '}'),
      'return app.listen()',
      '\tapp.register(',
    ],
    [
      lines(IMPORT, APP, 'if (import.meta.main) {', '  app.listen()', '}'),
      'app.listen()',
      '  app.register(',
    ],
    [
      lines(
        "import { fastify as make, type FastifyInstance } from 'fastify'",
        'let server: FastifyInstance',
        "server = make<Raw>({ name: '// x' }).withTypeProvider<X>() // server.listen()",
        '/* server.listen() */',
        'server.listen()',
      ),
      'server.listen()',
      'server.register(',
    ],
    [
      lines("import Fastify, { type FastifyInstance } from 'fastify'", APP, 'app.listen()'),
      'app.listen()',
      'app.register(',
    ],
    [
      lines("const { fastify } = require('fastify')", 'const app = fastify()', 'app.listen()'),
      'app.listen()',
      'app.register(',
    ],
    [
      lines("import { build } from './app.js'", 'const app = await build()', 'app.listen()'),
      'app.listen()',
      'app.register(',
    ],
    [
      lines("import app from './app.js'", 'await app.listen()'),
      'await app.listen()',
      'await app.register(',
    ],
    [
      lines("const server = require('./app.js')({ logger: true })", 'server.listen()'),
      'server.listen()',
      'server.register(',
    ],
    [
      lines("var app = require('fastify')({", '  logger: true', '})', 'app.listen()'),
      'app.listen()',
      'app.register(',
    ],
  ]
  for (const [source, before, firstLine] of cases) {
    t.ok(listens(source, loads), source)
    const { [before]: registered = [], ...others } = additions(source)
    t.ok(registered[0]?.startsWith(firstLine), `${source}\n→ ${registered[0]}`)
    t.equal(registered.length, 3)
    t.match(Object.values(others), [[/@svc\/core/, /@svc\/auth/, /@svc\/webhooks/]], 'imports')
  }
})

t.test('lines end as those of the file do', async (t) => {
  const { text = '' } = edited(
    lines(IMPORT, APP, 'app.listen()', '').replaceAll('\n', '\r\n'),
    loads,
  )
  t.equal(text.replaceAll('\r\n', '').includes('\n'), false)
  t.match(
    text,
    /@svc\/webhooks'\r\nimport Fastify[^]*app\.register\(svcWebhooks.*\)\r\napp\.listen/,
  )
})

t.test(
  'a file is left as it is where a plugin might come too late, or to something else',
  async (t) => {
    const cases: [source: string, reason: RegExp][] = [
      [
        lines(IMPORT, APP, "import { server } from './server.js'", 'server.listen(app)'),
        /not an instance/,
      ],
      [lines(IMPORT, APP, 'app.listen()', 'app.listen()'), /more than once/],
      [lines(IMPORT, APP, 'await app.ready()', 'app.listen()'), /is ready before it listens/],
      [lines(IMPORT, APP, 'if (isMain)', '  app.listen()'), /within another statement/],
      [lines(IMPORT, APP, 'if (isMain)', 'app.listen()'), /within another statement/],
      [lines(IMPORT, APP, 'if (', '  isMain', ')', '  app.listen()'), /within another statement/],
      [lines(IMPORT, APP, 'if (a) b()', 'else', '  app.listen()'), /within another statement/],
      [lines(IMPORT, APP, 'const start = () =>', 'app.listen()'), /within another statement/],
      [lines(IMPORT, APP, 'run(', 'app.listen())'), /within another statement/],
      [lines(IMPORT, APP, 'run(() => app.listen())'), /within another statement/],
      [lines(IMPORT, APP, 'if (isMain) app.listen()'), /within another statement/],
    ]
    for (const [source, reason] of cases) t.match(edited(source, loads).reason, reason, source)
  },
)

t.test('what makes no instance of Fastify, or does not listen, is no server', async (t) => {
  for (const source of [
    lines(IMPORT, APP, 'export default app'),
    lines("import type Fastify from 'fastify'", 'app.listen()'),
    lines("import { type FastifyInstance } from 'fastify'", 'app.listen()'),
    lines("import { server } from './other.js'", 'server.listen()'),
    lines("import express from 'express'", 'const app = express()', 'app.listen()'),
    lines("import { sql } from './app.js'", "sql.listen('orders')"),
    lines(`// ${IMPORT}`, '// app.listen()'),
    lines(`/*`, IMPORT, APP, `*/`, 'app.listen()'),
    lines(IMPORT, APP, 'const text = `', 'app.listen()', '`'),
  ]) {
    t.notOk(listens(source, loads), source)
  }
})
