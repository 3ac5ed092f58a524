import t from 'tap'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { startProcess } from '../support/process.ts'

t.test('a killed process loses at most the usage of its last seconds', async (t) => {
  const { app, database, makeKey } = await startHost(t)
  const { key, id } = await makeKey()
  const { child, port } = await startProcess(t, database)
  const use = async (times: number) => {
    for (let n = 0; n < times; n++) {
      const answer = await fetch(`http://127.0.0.1:${port}/me`, { headers: { 'x-api-key': key } })
      t.equal(answer.status, 200)
    }
  }
  const counted = async () => (await app.svc.auth.getUsage({ keyId: id })).totals.allowed

  await use(7)
  // Written in batches, every few seconds.
  await until(counted, (count) => count === 7)
  await use(3)
  child.kill('SIGKILL')
  t.equal((await child.exited).signal, 'SIGKILL')
  const left = await counted()
  // A batch may have been due between two of the three.
  t.ok(left >= 7 && left <= 10, `${left}: what was written is there, once`)
})
