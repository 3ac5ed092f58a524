import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { emptyDatabase } from '../../support/fresh-database.ts'

const BIN = join(import.meta.dirname, '../../../packages/core/src/cli/svc.ts')

t.test('the command makes everything, says so and ends', async (t) => {
  const env = { ...process.env, DATABASE_URL: await emptyDatabase(t) }
  for (const [args, exitCode, said] of [
    [['migrate', '--check'], 1, /^$/],
    [['migrate'], 0, /made {3}@svc\/core 001-tables\.sql[^]*\ndone\n$/],
    [['migrate', '--check'], 0, /everything is there\n$/],
  ] as const) {
    const child = spawn(process.execPath, [BIN, ...args], { env })
    t.teardown(() => child.kill('SIGKILL'))
    const output = text(child.stdout)
    const [code] = await once(child, 'exit')
    t.equal(code, exitCode, args.join(' '))
    t.match(await output, said)
  }
})
