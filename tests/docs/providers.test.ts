import { readFileSync } from 'node:fs'
import t from 'tap'
import { DOCUMENT, providersDocument } from '../../scripts/provider-table.ts'

t.test(
  'docs/providers.md says what the presets are: else run scripts/provider-table.ts',
  async (t) => {
    t.equal(readFileSync(DOCUMENT, 'utf8'), providersDocument())
  },
)
