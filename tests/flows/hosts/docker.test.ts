/** The files of docs/hosts/docker-serverless.md for Docker, without Docker: they are checked, and their steps are run. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { folderOf, freePort, runProgram } from '../../support/program.ts'
import { recipe } from './support/page.ts'

interface Linter {
  validate: (text: string) => { message: string }[]
}
const tools = createRequire(new URL('tools/package.json', import.meta.url))
const { validate } = tools('dockerfile-utils') as Linter
const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'
const svc = join(import.meta.dirname, '../../../packages/cli/src/svc.ts')

const dockerfile = recipe('Dockerfile', 'dockerfile')
const steps = (name: string) =>
  [...dockerfile.matchAll(new RegExp(`^${name} +(.*)$`, 'gm'))].map(([, text]) => text as string)
const wordsOf = (text: string) => JSON.parse(text.slice(text.indexOf('['))) as string[]

t.test('the Dockerfile is valid, and starts node itself as a user without rights', async (t) => {
  t.same(
    validate(dockerfile).map(({ message }) => message),
    [],
  )
  t.not(validate(dockerfile.replace('EXPOSE 3000', 'EXPOSE x')).length, 0, 'the check sees errors')
  t.same(steps('RUN'), ['npm ci --omit=dev'], 'else the test below leaves a step out')
  t.same(steps('USER'), ['1000:1000'])
  t.equal(wordsOf(steps('CMD')[0]!)[0], 'node')
})

t.test(
  'the steps migrate, boot without rights to make tables, report health and close',
  async (t) => {
    const DATABASE_URL = await emptyDatabase(t)
    const PORT = await freePort()
    const [node, file = '', ...options] = wordsOf(steps('CMD')[0]!)
    t.equal(node, 'node')
    const folder = await folderOf(t, { [file]: recipe('container.ts') })
    const environment = { DATABASE_URL, BOOTSTRAP_KEY, PORT, NODE_ENV: 'production' }
    const early = runProgram(t, folder, file, environment, ...options)
    t.not(await early.ended(), 0, 'it does not boot before the tables are there')

    const [, command = ''] =
      /command: \[node_modules\/\.bin\/svc, (\w+)\]/.exec(recipe('compose.yaml', 'yaml')) ?? []
    const migrate = runProgram(t, folder, svc, { DATABASE_URL }, command)
    t.equal(await migrate.ended(), 0, migrate.printed)

    const program = runProgram(t, folder, file, environment, ...options)
    await program.says(/Server listening/)
    const isHealthy = () => {
      const [, ...args] = wordsOf(steps('HEALTHCHECK')[0]!)
      return spawnSync(process.execPath, args, { env: { PORT } }).status === 0
    }
    t.equal(isHealthy(), true)
    const headers = { 'x-api-key': BOOTSTRAP_KEY }
    t.equal((await fetch(`http://127.0.0.1:${PORT}/orders`, { headers })).status, 200)
    t.equal(await program.end(), 0, 'SIGTERM is handled, as process 1 must')
    t.equal(isHealthy(), false)
  },
)
