import t from 'tap'
import { folderOf, runProgram } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { askAt, programsOf, start, testGuides } from './support/guides.ts'

testGuides('webhooks', {
  async 'publish.ts'(t, ask) {
    t.match(await ask('/orders', { item: 'book' }), { status: 201, body: { item: 'book' } })
  },
  async 'handle.ts'(_t, ask, program) {
    await ask('/orders', { id: 7 })
    await program.says(/"order":\{"id":7\},"attempt":1,"msg":"sent out"/)
    await until(
      async () => (await ask('/orders/count')).body.count,
      (count) => count === 1,
    )
  },
  async 'register.ts'(t, ask) {
    const { body } = await ask('/customers/acme/webhooks', { url: 'https://acme.example/hook' })
    t.match(body, { id: String, secret: /^whsec_/ })
  },
  async 'secrets.ts'(t, ask) {
    const webhook = { url: 'https://acme.example/hook', events: ['order.created'] }
    const { body } = await ask('/_webhooks', webhook)
    const rotated = await ask(`/webhooks/${body.id}/new-secret`, {})
    t.match(rotated.body, { secret: /^whsec_/ })
    t.not(rotated.body.secret, body.secret)
  },
  async 'filter.ts'(t, ask) {
    t.match(await ask('/large-orders', {}), { status: 200, body: [] })
    t.match(await ask('/_webhooks'), { body: [{ filter: { payload: Object } }] })
  },
  async 'settings.ts'(t, ask) {
    t.match(await ask('/webhooks-of-acme', {}), { status: 200 })
    t.match(await ask('/_webhooks'), {
      body: [{ headers: { Authorization: '***' }, timeoutMs: 5000, fields: { length: 3 } }],
    })
  },
  async 'transforms.ts'(t, ask) {
    t.match(await ask('/webhooks-of-two-kinds', {}), { body: { registered: 2 } })
  },
  async 'order.ts'(t, ask) {
    t.match(await ask('/webhooks-with-bounds', {}), { body: { length: 2 } })
  },
  async 'deliveries.ts'(t, ask) {
    t.match(await ask('/failures/acme'), { status: 200, body: [] })
  },
  async 'recover.ts'(t, ask) {
    const webhook = { url: 'https://acme.example/hook', events: ['order.created'] }
    const { body } = await ask('/_webhooks', webhook)
    t.match(await ask(`/webhooks/${body.id}/recover`, {}), { body: { deliveries: 0 } })
  },
  async 'pause.ts'(t, ask) {
    t.match(await ask('/stop', {}), { status: 200, body: { paused: true } })
    t.match(await ask('/go-on', {}), { status: 200 })
  },
  async 'network.ts'(t, ask) {
    t.match(await ask('/_webhooks/egress'), { status: 200 })
    const refused = { url: 'http://127.0.0.1/hook', events: ['order.created'] }
    t.match(await ask('/_webhooks', refused), { status: 400 })
  },
  async 'events.ts'(t, ask) {
    t.match(await ask('/orders', {}), { status: 200, body: { duplicate: false } })
    t.match(await ask('/_webhooks/events'), { body: [{ example: { id: 42 } }, {}] })
  },
})

t.test('the reader of the feed prints what a host publishes', async (t) => {
  const { 'publish.ts': publish = '', 'reader.ts': reader = '' } = programsOf('webhooks')
  const { process, at } = await start(t, { 'publish.ts': publish })
  await process.says(/has started/)
  const folder = await folderOf(t, { 'reader.ts': reader })
  const program = runProgram(t, folder, 'reader.ts', { URL: at('publish.ts') })
  await askAt(at('publish.ts'))('/orders', { item: 'book' })
  await program.says(/order\.created \{ id: 1, item: 'book' \}/)
})
