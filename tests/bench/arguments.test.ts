import t from 'tap'
import { chosen, parseArguments } from '../../bench/arguments.ts'

const all = [{ name: 'guard-cpu' }, { name: 'guard-cold' }, { name: 'inbound' }]

t.test('the prefix of a benchmark’s name selects its group', async (t) => {
  t.same(chosen(all, ['guard']), [{ name: 'guard-cpu' }, { name: 'guard-cold' }])
  t.same(chosen(all, ['inbound', 'guard-cold']), [{ name: 'guard-cold' }, { name: 'inbound' }])
  t.same(chosen(all, []), all)
})

t.test('the error for an unknown name lists the known ones', async (t) => {
  t.throws(() => chosen(all, ['gard']), /no benchmark "gard"; there are: guard-cpu, guard-cold/)
})

t.test('the dashes that pnpm passes on are not a benchmark name', async (t) => {
  t.match(parseArguments(['--', '--quick', 'guard']), { quick: true, names: ['guard'] })
})

t.test('a number of rounds that makes no sense is refused', async (t) => {
  t.throws(() => parseArguments(['--rounds', '0']), /--rounds must be an integer of at least 1/)
  t.throws(() => parseArguments(['--bogus']), /bogus/)
})
