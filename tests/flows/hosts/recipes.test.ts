import { createServer } from 'node:http'
import t, { type Test as Tap } from 'tap'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { folderOf, freePort, runProgram } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { page, recipe } from './support/page.ts'
import { listening } from '../../support/listening.ts'

const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'

async function start(t: Tap, code: string, environment: Record<string, string> = {}) {
  const database = await emptyDatabase(t)
  const PORT = await freePort()
  const folder = await folderOf(t, { 'app.ts': code })
  const env = { DATABASE_URL: database, BOOTSTRAP_KEY, PORT, ...environment }
  const program = runProgram(t, folder, 'app.ts', env)
  const ask = async (key: string) => {
    const headers = { 'x-api-key': key }
    const { status } = await fetch(`http://localhost:${PORT}/orders`, { headers })
    return status
  }
  return { program, ask }
}

/** Without its line a recipe does not boot, and the error has the line. */
async function assertNeeded(t: Tap, code: string, line: string, environment = {}): Promise<void> {
  t.ok(code.includes(`${line},\n`), 'the recipe has the line')
  const { program } = await start(t, code.replace(`${line},\n`, ''), environment)
  t.not(await program.ended(), 0)
  t.match(program.printed, 'SVC_AUTH_HOOK_BEFORE_GUARD')
  t.match(program.printed, line)
}

t.test('@fastify/otel has spans of requests that the guard refuses', async (t) => {
  const code = recipe('otel.ts')
  await assertNeeded(t, code, "hooksBeforeGuard: ['startRequestSpanHook']")
  const { program, ask } = await start(t, code)
  await program.says(/Server listening/)
  t.equal(await ask('wrong'), 401)
  await program.says(/'http\.response\.status_code': 401/)
  t.equal(await ask(BOOTSTRAP_KEY), 200)
  await program.says(/'http\.response\.status_code': 200/)
  t.equal(await program.end(), null)
})

t.test('Sentry is told of errors of handlers, and the guard is before them', async (t) => {
  let told = ''
  const sentry = createServer((request, response) => {
    request.on('data', (bytes: Buffer) => void (told += bytes.toString()))
    request.on('end', () => response.end('{}'))
  })
  const port = await listening(t, sentry)
  const environment = { SENTRY_DSN: `http://public@127.0.0.1:${port}/1` }

  const code = recipe('sentry.ts')
  await assertNeeded(t, code, "hooksBeforeGuard: ['onRequest']", environment)
  const { program, ask } = await start(t, code, environment)
  await program.says(/Server listening/)
  t.equal(await ask('wrong'), 401)
  t.equal(await ask(BOOTSTRAP_KEY), 500)
  await until(() => told.includes('no orders today'))
  t.notMatch(told, BOOTSTRAP_KEY)
})

t.test('a limit by address counts requests with wrong keys', async (t) => {
  const code = recipe('rate-limit.ts')
  const { program, ask } = await start(t, code.replace('max: 300', 'max: 3'))
  await program.says(/Server listening/)
  const statuses: number[] = []
  for (const key of ['1', '2', '3', '4', BOOTSTRAP_KEY]) statuses.push(await ask(key))
  t.same(statuses, [401, 401, 401, 429, 429])
})

t.test('fastify-cli waits for the work in progress with close-grace-delay', async (t) => {
  const [, options = ''] = /fastify start (--close-grace-delay \d+) app\.js/.exec(page) ?? []
  const folder = await folderOf(t, {
    'app.js': `
      import fp from 'fastify-plugin'
      import { setTimeout } from 'node:timers/promises'
      import { svcCore } from '@svc/core'
      export default fp(async (app, _options) => {
        await app.register(svcCore, { database: process.env.DATABASE_URL })
        await app.svc.events.subscribe('order.created', async () => {
          console.log('begun')
          await setTimeout(1500)
          console.log('ended')
        })
        await app.svc.events.publish('order.created', {})
      })`,
  })
  const DATABASE_URL = await emptyDatabase(t)
  const cli = 'node_modules/fastify-cli/cli.js'
  const env = { DATABASE_URL, PORT: await freePort() }
  const program = runProgram(t, folder, cli, env, 'start', ...options.split(' '), 'app.js')
  await program.says(/begun/)
  t.equal(await program.end(), 0)
  t.match(program.printed, /ended/)
})
