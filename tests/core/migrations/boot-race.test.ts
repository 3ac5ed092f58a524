// promise: A boot without the migrations that it needs is refused or waits, and ten hosts can boot at once
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import t from 'tap'
import { emptyDatabase } from '../../support/fresh-database.ts'

t.test(
  'ten processes that boot at once on an empty database all come up, and exit by themselves',
  async (t) => {
    const database = await emptyDatabase(t)
    const processes = Array.from({ length: 10 }, () => {
      const child = spawn(process.execPath, [
        join(import.meta.dirname, '../support/boot-child.ts'),
        database,
      ])
      const ready = once(child.stdout, 'data')
      return { child, complaint: text(child.stderr), exited: once(child, 'exit'), ready }
    })

    await Promise.all(processes.map(({ ready, exited }) => Promise.race([ready, exited])))
    for (const { child } of processes) child.stdin.end()
    const codes = await Promise.all(
      processes.map(async ({ exited }) => (await exited)[0] as number),
    )

    t.strictSame(await Promise.all(processes.map(({ complaint }) => complaint)), Array(10).fill(''))
    t.strictSame(codes, Array(10).fill(0))
    const client = new pg.Client(database)
    await client.connect()
    const { rows } = await client.query(
      `select owner, name from svc."__svc.migrations" order by name`,
    )
    await client.end()
    t.equal(new Set(rows.map(({ name }) => name)).size, rows.length, 'each migration ran once')
  },
)
