import { readFileSync } from 'node:fs'
import t from 'tap'
import { TABLES, withTable } from '../../scripts/operation-tables.ts'

for (const table of TABLES) {
  t.test(
    'the READMEs say what the operations are: else run scripts/operation-tables.ts',
    async (t) => {
      const text = readFileSync(table.readme, 'utf8')
      t.equal(text, withTable(text, table))
    },
  )
}
