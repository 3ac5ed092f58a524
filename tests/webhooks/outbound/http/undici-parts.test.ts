import t from 'tap'
import * as undici from 'undici'
import {
  Agent,
  buildConnector,
  loadParts,
} from '../../../../packages/webhooks/src/outbound/http/undici-parts.ts'

t.test('the parts of undici are those of the installed version', async (t) => {
  t.equal(Agent, undici.Agent)
  t.equal(buildConnector, undici.buildConnector)
})

t.test('a version of undici that has moved them is loaded whole', async (t) => {
  const loaded: string[] = []
  const parts = loadParts((path) => {
    loaded.push(path)
    if (path !== 'undici') throw new Error(`Cannot find module '${path}'`)
    return undici
  })
  t.equal(parts.Agent, undici.Agent)
  t.equal(loaded.at(-1), 'undici')
  const agent = { request: async (options: unknown) => options } as unknown as undici.Agent
  const options = { origin: 'https://provider.example', path: '/', method: 'GET' } as const
  t.equal(await parts.request(agent, options), options)
})
