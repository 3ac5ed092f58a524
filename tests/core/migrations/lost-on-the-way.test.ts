import t from 'tap'
import { explainingRights } from '../../../packages/core/src/migrations/missing-rights.ts'

t.test('a boot that Postgres cuts short says to boot again', async (t) => {
  const db = { query: async () => ({ rows: [] }) }
  const cuts: [message: string, code?: string][] = [
    ['Connection terminated unexpectedly'],
    ['terminating connection due to administrator command', '57P01'],
    ['cannot execute CREATE SCHEMA in a read-only transaction', '25006'],
  ]
  for (const [message, code] of cuts) {
    const cause = Object.assign(new Error(message), { code })
    await t.rejects(
      explainingRights(db as never, () => Promise.reject(cause)),
      {
        code: 'SVC_CORE_DATABASE_UNREACHABLE',
        message: `svcCore: Postgres was lost on the way (${message}): boot again when it takes writes`,
        cause,
      },
    )
  }
})
