import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { until } from './support/host.ts'

const root = join(import.meta.dirname, '../..')

/** The programs of the README, by the names in their first lines, in a folder that finds our packages. */
async function unpack(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-readme-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const readme = await readFile(join(root, 'packages/webhooks/README.md'), 'utf8')
  for (const [, program = '', name = ''] of readme.matchAll(/```ts\n(\/\/ (\w+\.ts): .*?)```/gs)) {
    await writeFile(join(folder, name), program)
  }
  return folder
}

/** Runs a program; what it prints is gathered. */
function run(t: Test, folder: string, name: string, environment: Record<string, string>) {
  const child = spawn(process.execPath, [name], {
    cwd: folder,
    env: { PATH: process.env['PATH']!, ...environment },
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null) await once(child, 'exit')
  })
  const printed = { text: '' }
  child.stdout.on('data', (bytes: Buffer) => (printed.text += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (printed.text += bytes.toString()))
  return printed
}

/** Not one of those that systems hand out: no other test is given it before the program listens. */
async function freePort(): Promise<string> {
  const port = randomInt(15_000, 30_000)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  server.close()
  await once(server, 'close')
  return String(port)
}

async function post(url: string, body: object): Promise<Record<string, string>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Record<string, string>
}

t.test('the programs of the README deliver an order to its receiver', async (t) => {
  const DATABASE_URL = await freshDatabase(t)
  const folder = await unpack(t)
  const ports = { app: await freePort(), receiver: await freePort() }
  const app = run(t, folder, 'app.ts', { DATABASE_URL, PORT: ports.app })
  const isUp = (printed: { text: string }) => () => Promise.resolve(printed.text)
  await until(isUp(app), (text) => text.includes('Server listening'))

  const host = `http://localhost:${ports.app}`
  const url = `http://127.0.0.1:${ports.receiver}/hook`
  const { secret } = await post(`${host}/_webhooks`, { url, events: ['order.created'] })
  const receiver = run(t, folder, 'receiver.ts', { WEBHOOK_SECRET: secret!, PORT: ports.receiver })
  await until(
    () =>
      fetch(url, { method: 'POST' }).then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status === 401,
  )
  t.same(await post(`${host}/orders`, { item: 'book' }), { id: 1, item: 'book' })
  const printed = await until(isUp(receiver), (text) => text.includes('order.created'))
  t.match(printed, /order\.created \{ id: 1, item: 'book' \} [0-9a-f-]{36}/)
})
