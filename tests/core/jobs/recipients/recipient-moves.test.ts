import t from 'tap'
import { RecipientLimits } from '../../../../packages/core/src/jobs/recipients/recipient-limits.ts'
import { RecipientMoves } from '../../../../packages/core/src/jobs/recipients/recipient-moves.ts'
import { RecipientStates } from '../../../../packages/core/src/jobs/recipients/recipient-states.ts'
import { until } from '../../../support/until.ts'
import { recipientRow } from './recipient-row.ts'

function start() {
  const writes: string[][] = []
  const db = {
    async query(text: string, [, recipients]: unknown[] = []) {
      if (text.startsWith('insert')) writes.push(recipients as string[])
      return { rows: [{ moved: 0 }] }
    },
  }
  const states = new RecipientStates()
  const limits = new RecipientLimits({ first: 48, retry: 16 })
  const moves = new RecipientMoves({
    queue: 'test.work',
    database: { db: { transaction: (work) => work(db) } },
    states,
    limits,
    log: { error: (_details, message) => t.fail(message) },
    changed: () => {},
    moved: () => {},
  })
  /** As the end of an attempt changes it. */
  const change = (recipient: string, isOpen: boolean) => {
    limits.setCircuit(recipient, isOpen)
    moves.circuitChanged(recipient, isOpen)
  }
  /** Reads a table in which the circuits of these recipients are open. */
  const read = (...open: string[]) => {
    states.apply(
      open.map((recipient) => recipientRow(recipient, { circuitOpen: true })),
      true,
    )
    moves.adoptCircuits()
    return limits.open().toSorted()
  }
  return { writes, moves, change, read }
}

t.test('circuits of one moment share a write, and a close writes the last ones', async (t) => {
  const { writes, moves, change } = start()
  change('a', true)
  change('b', true)
  await until(() => writes.length === 1)
  t.strictSame(writes, [['a', 'b']])
  change('c', true)
  await moves.stop()
  t.strictSame(writes, [['a', 'b'], ['c']])
})

t.test('a change of this process holds until the table has it', async (t) => {
  const { writes, moves, change, read } = start()
  change('a', true)
  t.same(read('b'), ['a', 'b'])
  t.same([...moves.openedHere], ['a'])
  await until(() => writes.length === 1)
  await until(() => read('a', 'b') && moves.openedHere.size === 0)
  t.same(read('a', 'b'), ['a', 'b'], 'the table has it')
  change('a', false)
  t.same(read('a', 'b'), ['b'])
  await moves.stop()
  t.same(read(), [], 'another process has closed it')
  change('c', true)
  change('c', false)
  t.same([...moves.openedHere], [], 'it has closed again before the table was read')
})
