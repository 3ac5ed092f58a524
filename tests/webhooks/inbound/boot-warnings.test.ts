import t from 'tap'
import type { FastifyInstance } from 'fastify'
import type { InboundSource } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { hostOf, type LogLine } from './host.ts'

const source = (path: string): InboundSource => ({ path, publishAs: 'a', verify: () => true })

/** Decorates the host as svcAuth does. */
const guarding = (guards: unknown) => (app: FastifyInstance) =>
  app.decorate(Symbol.for('@svc/auth.guards') as never, guards as never)

const warningsIn = (log: LogLine[]) => log.filter(({ msg }) => msg.includes('excludePaths'))

t.test('a path that svcAuth guards is named in a warning at boot, with what to do', async (t) => {
  const asked: string[] = []
  const guards = (method: string, path: string) => {
    asked.push(`${method} ${path}`)
    return path === '/hooks/a'
  }
  const inbound = { a: source('/hooks/a'), b: source('/hooks/b') }
  const { app, log } = await hostOf(t, inbound, { before: guarding(guards) })
  t.strictSame(asked, [], 'not before the host is ready')
  await app.ready()
  t.strictSame(asked, ['POST /hooks/a', 'POST /hooks/b'])
  t.equal(warningsIn(log).length, 1)
  t.match(warningsIn(log), [{ source: 'a', path: '/hooks/a', msg: /excludePaths/ }])
})

t.test('without svcAuth there is no warning about guarded sources', async (t) => {
  const { app, log } = await hostOf(t, { a: source('/hooks/a') })
  await app.ready()
  t.strictSame(warningsIn(log), [])
})

t.test('samples that production lets in are named in a warning at boot', async (t) => {
  const { NODE_ENV } = process.env
  t.teardown(() => {
    if (NODE_ENV === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = NODE_ENV
  })
  const warned = async (inboundTests: boolean) => {
    const { log } = await hostOf(t, { a: source('/a') }, { inboundTests })
    return log.filter(({ option }) => option === 'inboundTests').map(({ msg }) => msg)
  }
  process.env['NODE_ENV'] = 'production'
  t.match(await warned(true), [/samples are events as any other: set inboundTests to false/])
  t.strictSame(await warned(false), [])
  process.env['NODE_ENV'] = 'development'
  t.strictSame(await warned(true), [])
})

t.test('how long keys are remembered is in vain without keys, and named at boot', async (t) => {
  const named = (log: LogLine[]) =>
    log.filter(({ option }) => option === 'deduplicationTtlSeconds').map((line) => line.source)
  const { log } = await hostOf(t, {
    plain: { ...source('/a'), deduplicationTtlSeconds: 60 },
    keyed: { ...source('/b'), deduplicationTtlSeconds: 60, deduplicationKey: () => 'k' },
    preset: providers.github({ path: '/c', secretName: 'S', deduplicationTtlSeconds: 60 }),
    keyless: providers.figma({ path: '/d', secretName: 'S', deduplicationTtlSeconds: 60 }),
    usual: source('/e'),
  })
  t.strictSame(named(log), ['plain', 'keyless'])
  t.match(log.find(({ source }) => source === 'plain')?.msg, /no effect without deduplicationKey/)
})
