// The examples for receivers, run: each takes a delivery and refuses a forged one.
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { folderOf, freePort, runProgram } from '../support/program.ts'
import { until } from '../support/until.ts'
import { programsIn } from '../flows/guides/support/guides.ts'

const root = join(import.meta.dirname, '../..')
const examples = {
  ...programsIn(join(root, 'packages/receiver/README.md')),
  ...programsIn(join(root, 'docs/webhooks/receive-and-verify.md')),
}

const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const body = '{"event":"order.created","payload":{ "id": 1.0 },"deliveryId":"0199"}'

function delivery(key: string): RequestInit {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')
  return {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-svc-timestamp': timestamp,
      'x-svc-signature': `sha256=${signature}`,
    },
  }
}

for (const name of ['fastify.ts', 'express.ts']) {
  t.test(`${name} takes a delivery and refuses a forged one`, async (t) => {
    const PORT = await freePort()
    const url = `http://localhost:${PORT}/hook`
    const folder = await folderOf(t, { [name]: examples[name]! })
    const receiver = runProgram(t, folder, name, { WEBHOOK_SECRET: secret, PORT })
    const post = (key: string) =>
      fetch(url, delivery(key)).then(
        ({ status }) => status,
        () => 0,
      )
    t.equal(
      await until(
        () => post('forged'),
        (status) => status !== 0,
      ),
      401,
    )
    t.equal(await post(secret), 204)
    await receiver.says(/order\.created \{ id: 1 \} 0199/)
  })
}

/** What a module that serves fetch's requests exports. */
interface Fetched {
  default?: { fetch: (request: Request) => Response | Promise<Response> }
  POST?: (request: Request) => Promise<Response>
}

for (const name of ['hono.ts', 'route.ts']) {
  t.test(`${name} takes a delivery and refuses a forged one`, async (t) => {
    const { answer, printed } = await served(t, name)
    t.equal(await answer('forged'), 401)
    t.same(printed(), [])
    t.equal(await answer(secret), 204)
    t.same(printed(), [['order.created', { id: 1 }, '0199']])
  })
}

async function served(t: Test, name: string) {
  const folder = await folderOf(t, { [name]: examples[name]! })
  const module = (await import(pathToFileURL(join(folder, name)).href)) as Fetched
  const handler = module.POST ?? module.default!.fetch
  t.intercept(process, 'env', { value: { ...process.env, WEBHOOK_SECRET: secret } })
  const calls = t.capture(console, 'log')
  const lines: unknown[][] = []
  return {
    answer: async (key: string) =>
      (await handler(new Request('http://localhost/hook', delivery(key)))).status,
    printed: () => {
      lines.push(...calls().map(({ args }) => args as unknown[]))
      return lines
    },
  }
}
