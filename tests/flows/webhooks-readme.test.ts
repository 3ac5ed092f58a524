import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { folderOf, freePort, runProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

const readme = await readFile(
  join(import.meta.dirname, '../../packages/webhooks/README.md'),
  'utf8',
)

/** The programs of the README, by the names in their first lines. */
const programs = Object.fromEntries(
  [...readme.matchAll(/```ts\n(\/\/ (\w+\.ts): .*?)```/gs)].map(([, program = '', name = '']) => [
    name,
    program,
  ]),
)

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
  const folder = await folderOf(t, programs)
  const ports = { app: await freePort(), receiver: await freePort() }
  const app = runProgram(t, folder, 'app.ts', { DATABASE_URL, PORT: ports.app })
  await app.says(/Server listening/)

  const host = `http://localhost:${ports.app}`
  const url = `http://127.0.0.1:${ports.receiver}/hook`
  const { secret } = await post(`${host}/_webhooks`, { url, events: ['order.created'] })
  const environment = { WEBHOOK_SECRET: secret!, PORT: ports.receiver }
  const receiver = runProgram(t, folder, 'receiver.ts', environment)
  await until(
    () =>
      fetch(url, { method: 'POST' }).then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status === 401,
  )
  t.same(await post(`${host}/orders`, { item: 'book' }), { id: 1, item: 'book' })
  await receiver.says(/order\.created \{ id: 1, item: 'book' \} [0-9a-f-]{36}/)
})
