/**
 * The hook of the guard by itself, in copies of the packages: it is called for requests that came
 * over HTTP before, so that nothing of HTTP is measured with it.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type * as Auth from '@svc/auth'
import type * as Core from '@svc/core'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { importCopy } from '../copies.ts'
import { serve } from '../process.ts'

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

interface Host {
  app: FastifyInstance
  hook: Hook
  received: [FastifyRequest, FastifyReply][]
}

const NAME_OF_HOOK = 'svcAuthGuard'
const UNTIL_TRUSTED_MS = 10
let hosts: Host[] = []

const methods = {
  async start(copy: string, database: string, keys: string[]): Promise<void> {
    const { svcCore } = await importCopy<typeof Core>('@svc/core', copy)
    const { svcAuth } = await importCopy<typeof Auth>('@svc/auth', copy)
    const app = Fastify()
    const hooks = watchHooks(app)
    await app.register(svcCore, { database, worker: { enabled: false } })
    await app.register(svcAuth)
    const received: Host['received'] = []
    app.get('/', async (request, reply) => {
      received.push([request, reply])
      return {}
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    for (const key of keys) {
      const { status } = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
      if (status !== 200) throw new Error(`a request was answered with ${status}`)
    }
    const hook = hooks.find(({ name }) => name === NAME_OF_HOOK)
    if (!hook) throw new Error(`svcAuth has added no hook of the name ${NAME_OF_HOOK}`)
    hosts.push({ app, hook, received })
  },
  /** CPU time of a call of the hook in this host, in µs. */
  async slice(host: number, calls: number): Promise<number> {
    for (;;) {
      gc?.({ type: 'minor' })
      const { cpu, decided } = callHook(hosts[host], calls)
      if (decided === calls) return cpu / calls
      // The cache was not trusted for a moment, and Postgres decides about some of them.
      await wait(UNTIL_TRUSTED_MS)
    }
  },
  async stop(): Promise<void> {
    for (const { app } of hosts) await app.close()
    hosts = []
  },
}
export type HookMethods = typeof methods
serve(methods)

function callHook(host: Host | undefined, calls: number): { cpu: number; decided: number } {
  const { hook, received = [] } = host ?? {}
  let decided = 0
  const done = (): void => {
    decided++
  }
  const before = process.threadCpuUsage()
  for (let call = 0; call < calls; call++) {
    const [request, reply] = received[call % received.length] ?? []
    if (request && reply) hook?.(request, reply, done)
  }
  const { user, system } = process.threadCpuUsage(before)
  return { cpu: user + system, decided }
}

/** The list of the hooks that are added from now on. */
function watchHooks(app: FastifyInstance): Hook[] {
  const hooks: Hook[] = []
  const host = app as unknown as { addHook: (name: string, hook: Hook) => unknown }
  const { addHook } = host
  host.addHook = function addWatched(this: unknown, name, hook) {
    hooks.push(hook)
    return Reflect.apply(addHook, this, [name, hook])
  }
  return hooks
}
