import { once } from 'node:events'
import t from 'tap'
import { emptyDatabase } from '../support/fresh-database.ts'
import { startNode } from '../support/start-node.ts'
import { BIN } from '../support/svc-command.ts'

t.test('a command whose reader is gone ends with the code of what it found', async (t) => {
  const DATABASE_URL = await emptyDatabase(t)
  const cases = [
    ['secret', 'stdout', {}, 0],
    ['doctor', 'stdout', { DATABASE_URL }, 1],
    ['status', 'stderr', {}, 2],
  ] as const
  for (const [verb, stream, environment, expected] of cases) {
    const child = startNode([BIN, verb], { env: { PATH: process.env['PATH']!, ...environment } })
    child[stream].destroy()
    const [exitCode] = (await once(child, 'exit')) as [number | null]
    t.equal(exitCode, expected, verb)
  }
})
