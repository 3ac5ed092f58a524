import t from 'tap'
import { RecipientMoves } from '../../../../packages/core/src/jobs/recipients/recipient-moves.ts'
import { RecipientStates } from '../../../../packages/core/src/jobs/recipients/recipient-states.ts'
import { until } from '../../../support/until.ts'

t.test('circuits of one moment share a write, and a close writes the last ones', async (t) => {
  const writes: string[][] = []
  const db = {
    async query(_text: string, [, recipients]: unknown[] = []) {
      writes.push(recipients as string[])
      return { rows: [] }
    },
  }
  const moves = new RecipientMoves({
    queue: 'test.work',
    background: (work) => work(db),
    states: new RecipientStates(),
    log: { error: (_details, message) => t.fail(message) },
    changed: () => {},
    refreshSoon: () => {},
    moved: () => {},
  })
  moves.circuitChanged('a', true)
  moves.circuitChanged('b', true)
  await until(() => writes.length === 1)
  t.strictSame(writes, [['a', 'b']])
  moves.circuitChanged('c', true)
  await moves.stop()
  t.strictSame(writes, [['a', 'b'], ['c']])
})
