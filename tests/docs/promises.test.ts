import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')

t.test('each promise names existing tests', async (t) => {
  const rows = readFileSync(join(ROOT, 'docs/promises.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:---|\*\*|Promise)/.test(line))
  t.ok(rows.length > 20, `${rows.length} promises`)
  for (const row of rows) {
    const files = [...row.matchAll(/`(tests\/[^`]+)`/g)].map(([, file]) => file as string)
    t.ok(files.length > 0, row)
    for (const file of files) t.ok(existsSync(join(ROOT, file)), file)
  }
})
