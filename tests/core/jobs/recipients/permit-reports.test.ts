import t from 'tap'
import type { Job } from '@svc/core/internal'
import { PermitReports } from '../../../../packages/core/src/jobs/recipients/permit-reports.ts'

const job = (recipient: string | null, id: string | null) =>
  ({ recipient, ...(id === null ? {} : { permit: { id, askedAt: 100 } }) }) as Job

t.test('a report of a permit says when the attempt began and how long it took', async (t) => {
  const reports = new PermitReports()
  reports.begun(job('a', 'one'), 130)
  reports.ended(job('a', 'two'), 190, 40)
  reports.givenBack(job('b', 'three'))
  reports.begun(job('a', null), 130)
  reports.begun(job(null, 'four'), 130)
  t.same(reports.of(['a']), [
    { permitId: 'one', afterMs: 30, tookMs: null },
    { permitId: 'two', afterMs: 50, tookMs: 40 },
  ])
  t.same(reports.of(['a', 'b', 'c']).length, 3)
  t.match(reports.of(['b']), [{ permitId: 'three', afterMs: null }])
})

t.test('a report that was sent is forgotten, unless it has changed meanwhile', async (t) => {
  const reports = new PermitReports()
  reports.begun(job('a', 'one'), 130)
  reports.begun(job('a', 'two'), 130)
  const told = reports.of(['a'])
  reports.ended(job('a', 'two'), 160, 30)
  reports.sent('a', told)
  t.same(reports.of(['a']), [{ permitId: 'two', afterMs: 30, tookMs: 30 }])
  reports.sent('a', reports.of(['a']))
  reports.sent('a', told)
  t.same(reports.of(['a']), [])
})

t.test('permits of a recipient that is restricted no more are not reported', async (t) => {
  const reports = new PermitReports()
  reports.begun(job('a', 'one'), 130)
  reports.begun(job('b', 'two'), 130)
  reports.keepOnly((recipient) => recipient === 'b')
  t.match(reports.of(['a', 'b']), [{ permitId: 'two' }])
})
