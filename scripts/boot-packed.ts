// Installs the tarballs of a folder as a stranger would, with npm, and boots an application with them on the lowest
// and on the newest versions that are promised.
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { install, OTHER } from '../tests/support/other-versions.ts'
import { startPostgres } from '../tests/support/postgres.ts'

/** Each promise once at its lowest and once at its newest. Between them continuous integration runs all tests. */
const VERSIONS = [
  { node: 'node@22.19', fastify: 'fastify@5.0', postgres: 'postgres@15' },
  { node: 'node@latest', fastify: 'fastify@6', postgres: 'postgres@18' },
]

const APP = `
import Fastify from 'fastify'
import { svcCore } from '@svc/core'
import { svcAuth } from '@svc/auth'
import { svcWebhooks } from '@svc/webhooks'
import { svcConsole } from '@svc/console'
import { providers } from '@svc/providers'
import { receiver } from '@svc/testing'
import { verifyDelivery } from '@svc/receiver'

const key = process.env.BOOTSTRAP_KEY
const app = Fastify({ forceCloseConnections: true })
await app.register(svcCore, { migrate: 'check' })
await app.register(svcAuth, { bootstrapKeySecret: 'BOOTSTRAP_KEY' })
await app.register(svcWebhooks, { allowedEvents: ['order.created'], allowedNetworks: ['127.0.0.0/8'] })
await app.register(svcConsole)
app.get('/orders', async () => [])
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const statusOf = async (path, headers) => (await fetch(url + path, { headers })).status
const statuses = [
  await statusOf('/orders', {}),
  await statusOf('/orders', { 'x-api-key': key }),
  await statusOf('/console/', {}),
]

const arrived = Promise.withResolvers()
const hook = await receiver({ answer: (request) => (arrived.resolve(request), { status: 204 }) })
const { secret } = await app.svc.webhooks.register({ url: hook.url, events: ['order.created'] })
await app.svc.events.publish('order.created', { id: 1 })
const { headers, raw } = await arrived.promise
const { event } = verifyDelivery({ headers, body: raw, secret })
await app.close()
await hook.close()
console.log(JSON.stringify([statuses, event, providers.list().length > 100]))
`
const EXPECTED = JSON.stringify([[401, 200, 200], 'order.created', true])

const [folder] = process.argv.slice(2)
// All but that of Nest, which needs the Fastify of its framework.
const tarballs = globSync(join(resolve(folder ?? ''), '*.tgz')).filter(
  (file) => !file.includes('svc-nest-'),
)
if (folder === undefined || tarballs.length === 0)
  throw new Error('name the folder that "check:packages <folder>" has filled')

for (const wanted of VERSIONS) {
  const node = await install(wanted.node)
  const fastify = await install(wanted.fastify)
  const postgres = await install(wanted.postgres)
  const app = mkdtempSync(join(tmpdir(), 'svc-app-'))
  process.env[OTHER.postgres] = postgres.folder
  const server = await startPostgres()
  try {
    const PATH = `${join(node.folder, 'node_modules/node/bin')}:${process.env['PATH']}`
    const env = {
      ...process.env,
      PATH,
      DATABASE_URL: server.url,
      BOOTSTRAP_KEY: 'the-first-key-of-all',
    }
    const run = (command: string, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(command, args, {
        cwd: app,
        env,
        encoding: 'utf8',
        timeout: 120_000,
      })
      if (status !== 0)
        throw new Error(`${command} ${args[0]} ended with ${status}:\n${stdout}${stderr}`)
      return stdout
    }
    writeFileSync(join(app, 'package.json'), '{ "type": "module", "private": true }')
    writeFileSync(join(app, 'app.js'), APP)
    run(
      'npm',
      'install',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      `fastify@${fastify.version}`,
      ...tarballs,
    )
    run('node_modules/.bin/svc', 'migrate')
    const said = run('node', 'app.js').trim()
    if (said !== EXPECTED) throw new Error(`the application said ${said} and not ${EXPECTED}`)
    console.log(
      `boots on Node ${node.version}, Fastify ${fastify.version}, Postgres ${postgres.version}`,
    )
  } finally {
    await server.stop()
    rmSync(app, { recursive: true })
  }
}
