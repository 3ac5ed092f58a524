import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { emptyDatabase } from '../support/fresh-database.ts'
import { startPostgres } from '../support/postgres.ts'
import { startSvc, svc } from '../support/svc-command.ts'
import { until } from '../support/until.ts'
import { sessionOn } from '../support/session.ts'

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

/** What gives the password, and the file that it is read from. */
const GIVEN_BY: Record<
  string,
  (file: string) => { env: object; line: (password: string) => string }
> = {
  'a file': (file) => ({
    env: { PGPASSFILE: file },
    line: (password) => `*:*:*:watcher:${password}`,
  }),
  'a command': (file) => ({
    env: { SVC_PASSWORD_COMMAND: `cat '${file}'` },
    line: (password) => password,
  }),
}

for (const [what, givenBy] of Object.entries(GIVEN_BY)) {
  t.test(`a verb that goes on takes the password that ${what} gives by then`, async (t) => {
    const postgres = await startPostgres()
    t.teardown(() => postgres.stop())
    const admin = await sessionOn(t, postgres.url)
    const folder = await mkdtemp(join(tmpdir(), 'svc password '))
    t.teardown(() => rm(folder, { recursive: true }))
    const file = join(folder, 'passwords')
    const { env: password, line } = givenBy(file)
    const url = new URL(postgres.url)
    const setPassword = async (password: string) => {
      await admin.query(`alter role watcher password '${password}'`)
      await writeFile(file, `${line(password)}\n`, { mode: 0o600 })
    }
    await admin.query('create role watcher login superuser')
    await setPassword('first')
    url.username = 'watcher'
    url.password = ''
    const env = { DATABASE_URL: url.href, ...password }
    t.match(await svc(t, ['migrate'], env), { exitCode: 0 })
    const command = startSvc(t, ['status', '--watch'], env)
    await command.says(/Live processes/)

    await setPassword('second')
    url.password = 'first'
    await t.rejects(new pg.Client(url.href).connect(), { code: '28P01' }, 'the old one is refused')
    const connections = async () =>
      (await admin.query(`select pid from pg_stat_activity where usename = 'watcher'`)).rows.map(
        ({ pid }: { pid: number }) => pid,
      )
    const before = new Set(await connections())
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'watcher'`,
    )
    await until(connections, (pids) => pids.some((pid) => !before.has(pid)))
    const printed = command.printed.length
    await until(() => /Live processes/.test(command.printed.slice(printed)))
    command.interrupt()
    t.match(await command.ended, { exitCode: 0 })
  })
}

t.test('a command for the password that fails is an error without what it printed', async (t) => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  const url = new URL(postgres.url)
  const ran = async (DATABASE_URL: string, SVC_PASSWORD_COMMAND: string) => {
    const { exitCode, lines, errors } = await svc(t, ['migrate'], {
      DATABASE_URL,
      SVC_PASSWORD_COMMAND,
    })
    return { exitCode, text: [...lines, ...errors].join(' ') }
  }
  t.match(await ran(url.href, 'cat passwords'), { exitCode: 2, text: /SVC_PASSWORD_COMMAND/ })
  url.password = ''
  const failed = await ran(url.href, `sh -c "echo topsecret; exit 7"`)
  t.match(failed, { exitCode: 3, text: /SVC_PASSWORD_COMMAND failed: .* exit code 7/ })
  t.notMatch(failed.text, /topsecret/)
  t.match(await ran(url.href, 'no-such-program'), {
    exitCode: 3,
    text: /SVC_PASSWORD_COMMAND failed: .*ENOENT/,
  })
  // It ends though another process keeps its output open.
  for (const slow of ['sleep 60', `sh -c "trap '' TERM; sleep 9; echo late"`]) {
    const tooSlow = await ran(url.href, slow)
    t.match(tooSlow, { exitCode: 3, text: /SVC_PASSWORD_COMMAND failed: it took more than 4 s/ })
  }
  t.match(await ran(url.href, 'yes'), { exitCode: 3, text: /maxBuffer/ })
  t.match(await ran(url.href, 'true'), { exitCode: 3, text: /must give a text, got an empty one/ })
  for (const none of [`cat "passwords`, ' ']) {
    t.match(await ran(url.href, none), { exitCode: 2, text: /each quote in it must end/ }, none)
  }
})
