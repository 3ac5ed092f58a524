import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { folderOf, runProgram } from '../support/program.ts'
import { currentRun } from '../support/test-run.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/webhooks/test.md'), 'utf8')

t.test('the tests of the guide of tests pass unchanged', async (t) => {
  const [, program = ''] = /```ts\n(\/\/ orders\.test\.ts[^]*?)```/.exec(page) ?? []
  const folder = await folderOf(t, { 'orders.test.ts': program })
  const { server } = await currentRun()
  const run = runProgram(t, folder, 'orders.test.ts', {
    DATABASE_URL: server,
    SVC_TESTING_TIMEOUT_MS: '120000',
  })
  t.equal(await run.ended(), 0)
  t.match(run.printed, /pass 3\b/)
})
