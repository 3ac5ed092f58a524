import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'

const MAIN = new URL('../../examples/demo/main.ts', import.meta.url).pathname

/** Runs the demo as a newcomer does, without what the test runner puts into its children. */
async function demo(args: string[], environment: Record<string, string>) {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...rest } = process.env
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...rest, ...environment } })
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = (await once(child, 'exit')) as [number | null]
  const [told, complained] = await output
  return { code, told, complained: complained.trim() }
}

t.test('the demo tells the whole story and ends', async (t) => {
  const url = await freshDatabase(t)
  const { code, told, complained } = await demo([], { DATABASE_URL: url })
  t.equal(complained, '')
  t.equal(code, 0)
  for (const expected of [
    /← 401 .*SVC_AUTH_MISSING_KEY/,
    /← 403 .*insufficient permissions/,
    /the receiver got .*"item":"tea".*\n.*verified, attempt 1, answered 204/,
    /verified, attempt 3, answered 204/,
    /dead after attempt 3: timeout/,
    /the application heard .*github\.push/,
    /"status":"duplicate"/,
    /the application has heard of 1 event in all/,
  ]) {
    t.match(told, expected)
  }
})

t.test('what is wrong with its surroundings it says in one sentence', async (t) => {
  const url = await freshDatabase(t)
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const port = String((taken.address() as { port: number }).port)
  const missing = new URL(url)
  missing.username = 'nobody_of_this_name'
  const cases: [string[], Record<string, string>, RegExp][] = [
    [
      [],
      { DATABASE_URL: 'postgres://postgres@127.0.0.1:1/x' },
      /nothing listens there.*DATABASE_URL/,
    ],
    [[], { DATABASE_URL: 'not a url' }, /must look like postgres:\/\//],
    [[], { DATABASE_URL: missing.href }, /nobody_of_this_name/],
    [[], { DATABASE_URL: url, PORT: port }, /port \d+ is taken: free it, or set PORT/],
    [[], { DATABASE_URL: url, PORT: 'x' }, /PORT must be a number/],
    [['--loud'], { DATABASE_URL: url }, /--loud.*one option, --stay/],
  ]
  await Promise.all(
    cases.map(async ([args, environment, sentence]) => {
      const { code, complained } = await demo(args, environment)
      t.equal(code, 1, String(sentence))
      t.match(complained, sentence)
      t.equal(complained.split('\n').length, 1, 'without a stack trace')
    }),
  )
})
