import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { until } from '../support/until.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { listening } from '../support/listening.ts'

const ROOT = join(import.meta.dirname, '../..')
const MAIN = join(ROOT, 'examples/demo/main.ts')

/** Without what the test runner puts into its children. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...rest } = process.env
  return rest
}

/** Runs the demo as a newcomer does. */
async function demo(args: string[], environment: Record<string, string>) {
  const env = { ...ownEnvironment(), ...environment }
  const child = spawn(process.execPath, [MAIN, ...args], { env })
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = (await once(child, 'exit')) as [number | null]
  const [printed, complained] = await output
  return { code, printed, complained: complained.trim() }
}

t.test('the demo shows all of its steps and ends', async (t) => {
  const url = await freshDatabase(t)
  const { code, printed, complained } = await demo([], { DATABASE_URL: url })
  t.equal(complained, '')
  t.equal(code, 0)
  for (const expected of [
    /← 401 SVC_AUTH_MISSING_KEY/,
    /← 403 SVC_AUTH_INSUFFICIENT_SCOPE/,
    /← 204\n.*first key.*\n.*← 401 SVC_AUTH_INVALID_KEY/,
    /me\/rotate \(second key\).*\n.*← 201.*\n.*second key.*\n.*← 200.*\n.*third key.*\n.*← 200/,
    /receiver: order\.created .*"item":"tea".*\n.*signature verified, attempt 1, answered 204/,
    /old secret:(.*\n){4}.*signature verified/,
    /new secret:(.*\n){4}.*signature verified/,
    /signature verified, attempt 3, answered 204/,
    /attempt 3: dead, timeout/,
    /redrive .*\n.*← 202.*\n.*order\.lost.*\n.*attempt 4, answered 204/,
    /handled: github\.push/,
    /← 200 status duplicate/,
    /forged.*\n.*← 401/,
    /events handled: 1/,
  ]) {
    t.match(stripVTControlCharacters(printed), expected)
  }
})

t.test(
  'with --stay its lines work as printed, twice, show deliveries, and Ctrl-C ends it',
  async (t) => {
    const env = { ...ownEnvironment(), DATABASE_URL: await freshDatabase(t) }
    const child = spawn(process.execPath, [MAIN, '--stay'], { env })
    t.teardown(() => child.kill('SIGKILL'))
    const exited = once(child, 'close')
    const complaint = text(child.stderr)
    const printed: string[] = []
    createInterface(child.stdout).on('line', (line) => printed.push(line))
    const untilPrinted = (what: RegExp, times = 1, from = 0) =>
      until(() => {
        if (child.exitCode !== null) throw new Error(`it ended:\n${printed.join('\n')}`)
        return printed.slice(from).filter((line) => what.test(line)).length >= times
      })
    await untilPrinted(/Ctrl-C ends the demo/)
    // What the steps before have printed depends on how often a delivery timed out in them.
    const from = printed.length

    const lines = printed.filter((line) => /^ +curl /.test(line))
    const statuses = ['401', '201', '200', '202', '200', '200']
    for (const time of ['first', 'second']) {
      const given: string[] = []
      for (const line of lines) {
        given.push(
          await said(`${line.replace('curl -i', 'curl -s')} -o /dev/null -w '%{http_code}'`),
        )
      }
      t.same(given, statuses, `the ${time} time`)
    }
    await untilPrinted(/receiver: .*"item":"jam"/, 2, from)
    await untilPrinted(/receiver: webhook\.test/, 2, from)
    await untilPrinted(/verified, attempt 1, answered 204/, 4, from)

    child.kill('SIGINT')
    t.same(await exited, [0, null])
    t.equal(await complaint, '')
    t.equal(printed.at(-1), 'Closing.')
  },
)

t.test('Ctrl-C ends the demo, also through the shells of pnpm', async (t) => {
  const script = join(ROOT, 'package.json')
  const { scripts } = JSON.parse(await readFile(script, 'utf8')) as { scripts: { demo: string } }
  const shell = spawn('sh', ['-c', `${scripts.demo} --stay`], {
    cwd: ROOT,
    env: {
      ...ownEnvironment(),
      PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
      DATABASE_URL: await freshDatabase(t),
    },
    detached: true,
  })
  t.teardown(() => signalGroup(shell, 'SIGKILL'))
  const exited = once(shell, 'close')
  const printed = { text: '' }
  shell.stdout.on('data', (bytes: Buffer) => (printed.text += bytes.toString()))
  await until(() => printed.text.includes('1. A request without a key'))
  signalGroup(shell, 'SIGINT')
  t.same(await exited, [0, null])
  t.match(printed.text, /\nClosing\.\n$/)
})

t.test('a mistake in its environment is reported in one sentence', async (t) => {
  const url = await freshDatabase(t)
  const port = String(await listening(t, createServer()))
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

/** What a command line prints. */
const said = (command: string): Promise<string> => text(spawn('sh', ['-c', command]).stdout)

/** As a terminal does, to all that run in it. */
function signalGroup(leader: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader.pid!, signal)
  } catch {
    // It has ended.
  }
}
