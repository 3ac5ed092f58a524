import t from 'tap'
import { Pauses } from '../../../packages/core/src/jobs/pauses.ts'

t.test('an outage in which pauses cannot be read has one line, and its end another', async (t) => {
  const lines: [string, object][] = []
  const note = (details: object, message: string) => void lines.push([message, details])
  let isAway = true
  const query = async () => {
    if (isAway) throw Object.assign(new Error('only reads'), { code: '25006' })
    return { rows: [{ pauses: '[]' }], rowCount: 1 }
  }
  const notifications = { listen() {}, onConnect() {}, send: async () => {}, session: undefined }
  const pauses = new Pauses({
    db: { query },
    notifications,
    log: { warn: note, info: note },
  })
  for (let reads = 0; reads < 3; reads++) await pauses.holds('orders')
  isAway = false
  await pauses.holds('orders')
  t.match(lines, [
    ['could not read which queues are paused; it tries again', { err: { message: 'only reads' } }],
    ['which queues are paused is known again', { failures: 3 }],
  ])
  t.equal(lines.length, 2)
})
