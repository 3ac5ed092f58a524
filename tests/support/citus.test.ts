import t from 'tap'
import { splitCitus } from './citus.ts'

t.test('the address of a cluster is told from the other arguments of a run', async (t) => {
  const citus = 'postgres://postgres@localhost:5432/app'
  const others = ['--with', 'node@22.19', 'tests/core']
  t.strictSame(splitCitus(['--citus', citus, ...others]), { citus, others })
  t.strictSame(splitCitus([...others, `--citus=${citus}`]), { citus, others })
  t.strictSame(splitCitus(others), { citus: undefined, others })
  for (const given of [['--citus'], ['--citus', 'tests/core'], ['--citus=']]) {
    t.throws(() => splitCitus(given), /^--citus takes the address of a database/)
  }
})
