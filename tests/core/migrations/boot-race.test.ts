// promise: A boot without the migrations that it needs is refused or waits, and ten hosts can boot at once
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { queryOn } from '../../support/session.ts'

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
    const rows = await queryOn(database, `select owner, name from svc."__svc.migrations"`)
    const names = rows.map(({ owner, name }) => `${owner} ${name}`)
    t.ok(names.some((name) => name.startsWith('@svc/webhooks')))
    t.equal(new Set(names).size, names.length, 'each migration ran once')
  },
)
