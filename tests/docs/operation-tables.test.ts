import t from 'tap'
import { operationTables } from '../../scripts/operation-tables.ts'

t.test('the tables of operations have routes with their methods and what they take', async (t) => {
  const tables = operationTables()
  const row = (route: string) =>
    tables
      .split('\n')
      .find((line) => line.startsWith(`| \`${route}\` `))
      ?.replaceAll(/ +/g, ' ')
  t.match(
    row('POST /_auth/users'),
    '| `createUser` | `{ email, name, role?, tenant? }` | 201 | Create a user |',
  )
  t.match(row('GET /_webhooks/inbound'), '| `listInbound` | `?source&outcome&tenant&since&until` |')
  t.match(row('POST /_webhooks/pause-all'), 'for `admin` |')
})
