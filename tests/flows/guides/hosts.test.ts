import { builtPage } from '../../console/support/built-page.ts'
import { ENVIRONMENT, testGuides } from './support/guides.ts'

await builtPage()
testGuides('console', {
  async 'console.ts'(t, _ask, _program, at) {
    t.equal((await fetch(`${at}/console/`)).status, 200)
  },
  async 'portal.ts'(t, _ask, _program, at) {
    const headers = { 'x-api-key': ENVIRONMENT.BOOTSTRAP_KEY }
    const { status } = await fetch(`${at}/webhooks`, { headers, redirect: 'manual' })
    t.equal(status, 302)
  },
})

testGuides('hosts', {
  async 'express-app.ts'(t, ask) {
    t.match(await ask('/orders', { id: 1 }), { status: 401 })
  },
  async 'request-id.ts'(t, _ask, _program, at) {
    const { status, headers } = await fetch(`${at}/orders`)
    t.equal(status, 401)
    t.ok(headers.get('x-request-id'))
  },
  async 'core.ts'(t, ask) {
    t.match(await ask('/visits/home'), { body: { visits: 1 } })
    t.match(await ask('/visits/home'), { body: { visits: 2 } })
  },
})
