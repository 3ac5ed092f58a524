import { readFileSync } from 'node:fs'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { folderOf, runProgram } from '../support/program.ts'
import { farFromEndOf } from '../support/utc.ts'

const page = readFileSync(
  new URL('../../docs/keys/limits-quotas-plans.md', import.meta.url),
  'utf8',
)

t.test('the example of limits runs, and prints what its comments say', async (t) => {
  const [, code = ''] = /```ts\n(\/\/ limits\.ts:[\s\S]*?)```/.exec(page) ?? []
  const folder = await folderOf(t, { 'limits.ts': code })
  await farFromEndOf('day')
  const program = runProgram(t, folder, 'limits.ts', { DATABASE_URL: await freshDatabase(t) })
  await program.says(
    /\/orders 200 "5-per-1s";r=4;t=1, "100-per-60s";r=99;t=60, "tenant-1000-per-60s"/,
  )
  await program.says(/\/report 200 .*"quota-month";r=2;/)
  await program.says(/\/report 429 .*"quota-month";r=/)
  await program.says(/allowed: 2,[\s\S]*quota_exceeded: 1,/)
})
