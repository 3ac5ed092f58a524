import t from 'tap'
import { startHost } from './support/host.ts'
import { until } from '../support/until.ts'

const API = {
  events: [
    'deadLetters',
    'find',
    'pause',
    'publish',
    'redrive',
    'resume',
    'search',
    'subscribe',
    'unsubscribe',
  ],
  kv: ['delete', 'get', 'increment', 'set', 'setIfAbsent'],
  actions: ['call', 'names', 'register'],
  secrets: ['get'],
}

t.test('fastify.svc offers its API and nothing internal', async (t) => {
  const { app } = await startHost(t)
  for (const [name, methods] of Object.entries(API)) {
    const part = app.svc[name as keyof typeof API]
    t.strictSame(Object.keys(part).toSorted(), methods, name)
    t.equal(Object.getPrototypeOf(part), Object.prototype, `${name} is a plain object`)
  }
})

t.test('methods of fastify.svc can be destructured', async (t) => {
  const received: unknown[] = []
  const { app } = await startHost(t, {
    setUp({ svc }) {
      const { subscribe } = svc.events
      return subscribe('a', (payload) => void received.push(payload))
    },
  })
  const { publish, unsubscribe } = app.svc.events
  const { get, set } = app.svc.kv
  const { call } = app.svc.actions
  const { get: secretOf } = app.svc.secrets
  await publish('a', 1)
  await until(() => received.length === 1)
  await unsubscribe('a')
  await set('key', 5)
  t.equal(await get('key'), 5)
  await t.rejects(() => call('app.nothing' as never) as Promise<unknown>, {
    code: 'SVC_CORE_ACTION_UNKNOWN',
  })
  t.equal(await secretOf('A_SECRET_THAT_NO_ENVIRONMENT_HAS'), null)
})
