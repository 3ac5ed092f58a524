import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { until } from '../support/until.ts'
import { emptyDatabase } from '../support/fresh-database.ts'

const readme = await readFile(new URL('../../packages/core/README.md', import.meta.url), 'utf8')

t.test('the app of the README runs unchanged', async (t) => {
  const [, app = ''] = /```ts\n(\/\/ app\.ts[^]*?)```/.exec(readme) ?? []
  const folder = t.testdir({ 'app.ts': app })
  const child = spawn(process.execPath, ['app.ts'], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: await emptyDatabase(t), PORT: '0' },
  })
  t.teardown(() => child.kill('SIGKILL'))
  const complaint = text(child.stderr)
  const exited = once(child, 'exit')
  const lines: { msg: string }[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)))
  const listening = /^Server listening at (http:\/\/127\.0\.0\.1:\d+|http:\/\/\[::1\]:\d+)/
  const origin = await until(
    () => child.exitCode ?? lines.map(({ msg }) => listening.exec(msg)?.[1]).find(Boolean),
  )
  if (typeof origin !== 'string') return t.fail(await complaint)

  const answer = await fetch(`${origin}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{ "item": "book" }',
  })
  t.equal(answer.status, 201)
  t.strictSame(await answer.json(), { id: 1, item: 'book' })
  const sent = async () => (await fetch(`${origin}/orders/sent`)).json()
  t.strictSame(await until(sent, (body) => (body as { sent: number }).sent > 0), { sent: 1 })

  child.kill('SIGTERM')
  t.strictSame(await exited, [0, null])
  t.equal(await complaint, '')
})
