import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import pg from 'pg'
import t from 'tap'

import { startPostgres } from './postgres.ts'
import { sweepFolders } from './postgres/folders.ts'
import { until } from './until.ts'

t.test(
  'a test server takes settings, can be restarted, and is removed when it is stopped',
  async (t) => {
    const postgres = await startPostgres({ max_connections: '20' })

    t.same(await ask(postgres.url, 'show max_connections'), [{ max_connections: '20' }])
    await ask(postgres.url, 'create table kept ()')
    const started = 'select pg_postmaster_start_time()::text as at'
    const [{ at: before }] = await ask(postgres.url, started)
    postgres.restart()
    await until(
      () => ask(postgres.url, started).catch(() => [{ at: before }]),
      ([{ at }]) => at !== before,
    )
    t.same(await ask(postgres.url, 'select from kept'), [])
    await postgres.stop()

    await t.rejects(ask(postgres.url, 'select 1'), { code: 'ECONNREFUSED' })
  },
)

t.test('the error of a test server that cannot start has the reason', async (t) => {
  await t.rejects(startPostgres({ max_connections: 'many' }), /max_connections/)
})

t.test('a test server ends with its owner, even if the owner is killed', async (t) => {
  const script = `
    import { startPostgres } from ${JSON.stringify(import.meta.resolve('./postgres.ts'))}
    console.log((await startPostgres()).url)
    setInterval(() => {}, 1000)`
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', script])
  const [url] = (await once(owner.stdout.setEncoding('utf8'), 'data')) as [string]
  const [{ data_directory: data }] = await ask(url, 'show data_directory')
  owner.kill('SIGKILL')

  await until(async () => !(await exists(join(String(data), '..'))))

  await t.rejects(ask(url, 'select 1'), { code: 'ECONNREFUSED' })
})

t.test('servers of killed test runs are removed, and those of living ones are not', async (t) => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  const [{ data_directory: data }] = await ask(postgres.url, 'show data_directory')
  const ended = spawn(process.execPath, ['--version'])
  await once(ended, 'exit')
  const folder = await mkdtemp(join(tmpdir(), 'svc-leftover-'))
  await mkdir(join(folder, 'data'))
  // A number that is a process's again, but not a Postgres of that folder: it must live.
  await writeFile(join(folder, 'data', 'postmaster.pid'), `${process.pid}\n`)
  // Under its name the folder is whole from the start: servers of other tests sweep at any time.
  const leftover = join(tmpdir(), `svc-postgres-${ended.pid}-${folder.slice(-6)}`)
  await rename(folder, leftover)

  await sweepFolders()

  t.notOk(await exists(leftover))
  t.ok(await exists(String(data)))
})

async function ask(url: string, question: string): Promise<[Record<string, unknown>]> {
  const client = new pg.Client(url.trim())
  // The server may be shut down while it is asked: that rejects the query, and is an event as well.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(question)).rows as [Record<string, unknown>]
  } finally {
    await client.end()
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
