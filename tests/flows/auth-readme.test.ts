import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'

const readme = readFileSync(new URL('../../packages/auth/README.md', import.meta.url), 'utf8')
const root = fileURLToPath(new URL('../../', import.meta.url))
const BOOTSTRAP_KEY = 'at-least-16-characters'

t.test('the example of the README runs, and does what the README says', async (t) => {
  const [, code = ''] = /```ts\n(\/\/ app\.ts:[\s\S]*?)```/.exec(readme) ?? []
  const env = { ...process.env, DATABASE_URL: await freshDatabase(t), BOOTSTRAP_KEY, PORT: '0' }
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', code], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    child.kill()
    await once(child, 'exit')
  })
  const origin = await listening(child.stdout)

  const call = async (path: string, key: string | null, body?: object) => {
    const answer = await fetch(origin + path, {
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
    // oxlint-disable-next-line typescript/no-explicit-any -- bodies of many shapes
    return { status: answer.status, body: (await answer.json()) as any }
  }
  t.match(await call('/health', null), { status: 200 })
  t.match(await call('/orders', null), { status: 401 })
  const user = await call('/_auth/users', BOOTSTRAP_KEY, { email: 'ada@example.com', name: 'Ada' })
  const keys = `/_auth/users/${user.body.id}/keys`
  const { key: plain } = (await call(keys, BOOTSTRAP_KEY, {})).body
  const { key: billing } = (await call(keys, BOOTSTRAP_KEY, { scopes: ['billing:read'] })).body
  t.match(await call('/orders', plain), { status: 200, body: { for: user.body.id } })
  t.match(await call('/invoices', plain), { status: 403 })
  t.match(await call('/invoices', billing), { status: 200 })

  const customer = { email: 'bea@example.com', name: 'Bea' }
  t.match(await call('/customers', billing, customer), { status: 403 })
  const { key: theirs } = (await call('/customers', BOOTSTRAP_KEY, customer)).body
  t.match(await call('/orders', theirs), { status: 200, body: { for: String } })
  t.match(await call('/customers', BOOTSTRAP_KEY, customer), { status: 409 })
})

async function listening(log: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: log })) {
    const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (origin) return origin
  }
  throw new Error('it ended before it listened')
}
