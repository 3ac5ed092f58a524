import t from 'tap'
import { Circuits } from '../../../../packages/core/src/jobs/recipients/circuits.ts'
import { RecipientLimits } from '../../../../packages/core/src/jobs/recipients/recipient-limits.ts'

function start() {
  const limits = new RecipientLimits({ first: 48, retry: 16 })
  const unwritten = new Set<string>()
  const circuits = new Circuits(limits, (recipient) => unwritten.has(recipient))
  const change = (recipient: string, isOpen: boolean) => {
    limits.setCircuit(recipient, isOpen)
    unwritten.add(recipient)
    circuits.changed(recipient, isOpen)
  }
  const adopt = (...open: string[]) => circuits.adopt(new Set(open))
  return { limits, unwritten, circuits, change, adopt }
}

t.test('a change of this process holds until the table has it', async (t) => {
  const { limits, unwritten, circuits, change, adopt } = start()
  change('a', true)
  adopt('b')
  t.same(limits.open().toSorted(), ['a', 'b'])
  t.same([...circuits.openedHere], ['a'])
  unwritten.clear()
  adopt('a', 'b')
  t.same(limits.open().toSorted(), ['a', 'b'])
  t.same([...circuits.openedHere], [], 'the table has it')
  change('a', false)
  adopt('a', 'b')
  t.same(limits.open(), ['b'])
  unwritten.clear()
  adopt()
  t.same(limits.open(), [], 'another process has closed it')
})

t.test(
  'openedHere leaves out a circuit that has closed again before the table was read',
  async (t) => {
    const { circuits, change } = start()
    change('a', true)
    change('a', false)
    t.same([...circuits.openedHere], [])
  },
)
