import { join } from 'node:path'
import t from 'tap'
import { folderOf, runProgram } from '../support/program.ts'
import { currentRun } from '../support/test-run.ts'
import { programsIn } from './guides/support/guides.ts'

const PAGES: [page: string, program: string, passed: RegExp][] = [
  ['docs/webhooks/test.md', 'orders.test.ts', /pass 3\b/],
  ['packages/testing/README.md', 'shop.test.ts', /pass 1\b/],
]

for (const [page, name, passed] of PAGES) {
  t.test(`the tests of ${page} pass unchanged`, async (t) => {
    const folder = await folderOf(t, programsIn(join(import.meta.dirname, '../..', page)))
    const { server } = await currentRun()
    const run = runProgram(t, folder, name, {
      DATABASE_URL: server,
      SVC_TESTING_TIMEOUT_MS: '120000',
    })
    t.equal(await run.ended(), 0)
    t.match(run.printed, passed)
  })
}
