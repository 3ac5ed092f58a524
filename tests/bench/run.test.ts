import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'

const main = join(import.meta.dirname, '../../bench/main.ts')
const bench = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(process.execPath, [main, ...args], { env: { ...process.env, ...env } })

t.test("an event in a caller's transaction costs two round trips", async (t) => {
  const json = join(t.testdir(), 'bench.json')
  await bench(['publish-transaction', '--quick', '--json', json], {
    DATABASE_URL: await freshDatabase(t),
  })
  const { benchmarks } = JSON.parse(await readFile(json, 'utf8'))
  const [{ rows }] = benchmarks[0].findings
  t.equal(rows[1].name, 'events.publish with db')
  t.equal(rows[1].median, 2)
})

t.test('the list names every benchmark, and an unknown one ends with an error', async (t) => {
  t.match((await bench(['--list'])).stdout, /^guard-cpu .+\n[\s\S]+memory-soak /)
  await t.rejects(bench(['gard']), /There is no benchmark "gard"/)
})
