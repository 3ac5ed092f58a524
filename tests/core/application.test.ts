/** A host that finds another application in its tables says so. */
import { join } from 'node:path'
import t from 'tap'
import { applicationName } from '../../packages/core/src/application.ts'
import { emptyDatabase } from '../support/fresh-database.ts'
import { startHost } from './support/host.ts'

const warnings = (log: Record<string, unknown>[]) =>
  log.filter(({ msg }) => String(msg).startsWith('another application uses'))

t.test('another application in the same tables is named once at boot', async (t) => {
  const database = await emptyDatabase(t)
  const start = (application?: string) => startHost(t, { database, core: { application } })
  const shop = await start('shop')
  t.same(warnings(shop.log), [])
  await shop.app.close()
  const crm = await start('crm')
  t.match(warnings(crm.log), [
    {
      level: 40,
      schema: 'svc',
      application: 'crm',
      others: ['shop'],
      msg: /"schema".*"application"/,
    },
  ])
  t.equal(warnings(crm.log).length, 1)
  await crm.app.svc.events.publish('a', 1)
  t.match(warnings((await start('shop')).log), [{ application: 'shop', others: ['crm'] }])

  // What the warning says to do where they are one application.
  await crm.app.svc.database.query(`delete from svc."__svc.applications" where name = 'crm'`)
  t.same(warnings((await start('shop')).log), [])
})

t.test('processes of one package are one application', async (t) => {
  const database = await emptyDatabase(t)
  for (let n = 0; n < 2; n++) {
    const { app, log } = await startHost(t, { database })
    t.same(warnings(log), [])
    const { rows } = await app.svc.database.query('select name from svc."__svc.applications"')
    t.same(rows, [{ name: await applicationName() }])
  }
})

t.test('an application has the name of the package.json nearest to the main script', async (t) => {
  const root = t.testdir({
    'package.json': '{ "name": "monorepo" }',
    apps: {
      api: {
        'package.json': '{ "name": "@acme/api" }',
        src: { 'package.json': '{ "type": "module" }', 'server.js': '' },
        node_modules: {
          'fastify-cli': { 'package.json': '{ "name": "fastify-cli" }', 'cli.js': '' },
        },
      },
      broken: { 'package.json': '{', 'server.js': '' },
    },
    tools: {},
  })
  const api = join(root, 'apps/api')
  for (const [script, name] of [
    [join(api, 'src/server.js'), '@acme/api'],
    [join(api, 'src/not-there.js'), '@acme/api'],
    // `node .`
    [api, '@acme/api'],
    [join(api, 'node_modules/fastify-cli/cli.js'), '@acme/api'],
    [join(root, 'apps/broken/server.js'), 'monorepo'],
    [undefined, '@acme/api'],
  ] as const) {
    t.equal(await applicationName(script ?? '', api), name, script ?? 'without a script')
  }
})

t.test('without a package.json there is no name', async (t) => {
  const nowhere = '/nowhere/server.js'
  t.equal(await applicationName(nowhere, '/nowhere'), undefined)
  t.equal(
    await applicationName(nowhere, t.testdir({ 'package.json': '{ "name": "here" }' })),
    'here',
  )
})
