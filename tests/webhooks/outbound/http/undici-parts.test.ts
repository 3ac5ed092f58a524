import { createRequire } from 'node:module'
import t from 'tap'
import * as undici from 'undici'
import {
  Agent,
  buildConnector,
  loadParts,
} from '../../../../packages/webhooks/src/outbound/http/undici-parts.ts'

t.test('the parts of undici are those of the installed version', async (t) => {
  const load = createRequire(new URL('../../../../packages/webhooks/src/index.ts', import.meta.url))
  loadParts((path) => {
    t.not(path, 'undici', 'it is not loaded whole')
    return load(path)
  })
  t.equal(Agent, undici.Agent)
  t.equal(buildConnector, undici.buildConnector)
})

t.test('a version of undici that has moved them is loaded whole', async (t) => {
  const loaded: string[] = []
  const parts = loadParts((path) => {
    loaded.push(path)
    if (path === 'undici') return undici
    throw Object.assign(new Error(`no ${path}`), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' })
  })
  t.equal(parts.Agent, undici.Agent)
  t.equal(loaded.at(-1), 'undici')
  const agent = { request: async (options: unknown) => options } as unknown as undici.Agent
  const options = { origin: 'https://provider.example', path: '/', method: 'GET' } as const
  t.equal(await parts.request(agent, options), options)
})

t.test('a fault inside a part of undici is not taken for a moved one', async (t) => {
  const broken = () => {
    throw new SyntaxError('half a file')
  }
  t.throws(() => loadParts(broken), { message: 'half a file' })
})
