import t from 'tap'
import type { Job } from '@svc/core/internal'
import { prepareBatch } from '../../../../packages/core/src/jobs/pump/attempts.ts'

const jobs = ['a', 'b', 'bad', 'c', 'd'].map((id) => ({ id }) as Job)
const db = { query: async () => ({ rows: [] }) }

t.test('a job that makes its batch fail fails alone', async (t) => {
  const prepared = await prepareBatch(
    {
      async prepare(_db, batch) {
        if (batch.some(({ id }) => id === 'bad')) throw new Error('cannot be read')
        return ({ id }) => id.toUpperCase()
      },
    },
    db,
    jobs,
  )
  for (const job of jobs) {
    if (job.id === 'bad') t.throws(() => prepared(job), { message: 'cannot be read' })
    else t.equal(prepared(job), job.id.toUpperCase())
  }
})

t.test('jobs of a batch do not fail while Postgres is unavailable', async (t) => {
  const error = Object.assign(new Error('gone'), { code: 'ECONNRESET' })
  const worker = { prepare: () => Promise.reject(error) }
  await t.rejects(prepareBatch(worker, db, jobs), error)
})
