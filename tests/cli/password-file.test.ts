import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { emptyDatabase } from '../support/fresh-database.ts'
import { svc } from '../support/svc-command.ts'

t.test('the command takes a list of hosts, and its password from a file', async (t) => {
  const url = new URL(await emptyDatabase(t))
  const { port, username, password, pathname } = url
  const folder = await mkdtemp(join(tmpdir(), 'svc-password-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const PGPASSFILE = join(folder, 'passwords')
  await writeFile(PGPASSFILE, `127.0.0.1:${port}:*:${username}:${decodeURIComponent(password)}\n`)
  await chmod(PGPASSFILE, 0o600)
  const DATABASE_URL = `postgres://${username}@127.0.0.1:1,127.0.0.1:${port}${pathname}`
  const migrated = await svc(t, ['migrate'], { DATABASE_URL, PGPASSFILE })
  t.equal(migrated.exitCode, 0, migrated.errors.join('\n'))
  t.notMatch(migrated.errors.join('\n'), /deprecated/)
  t.equal((await svc(t, ['migrate', '--check'], { DATABASE_URL, PGPASSFILE })).exitCode, 0)
  const standby = await svc(t, ['migrate'], {
    DATABASE_URL: `${DATABASE_URL}?target_session_attrs=standby`,
    PGPASSFILE,
  })
  t.equal(standby.exitCode, 2)
  t.match(standby.errors.join(' '), /takes no writes/)
})
