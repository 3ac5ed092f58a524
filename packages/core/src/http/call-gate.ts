/**
 * How many management calls of one tenant are under way in this process: reads and changes are counted
 * apart, a further one waits for its turn. Calls of the operator are not counted.
 */
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { Busy } from '../errors.ts'
import { readingFor } from '../postgres/readers.ts'
import { reachOf } from '../tenants/tenants.ts'
import { within } from '../time.ts'

export type CallKind = 'reads' | 'changes'

const MOST_UNDER_WAY = 2
const TURN_WITHIN_MS = 5000

interface Line {
  underWay: number
  waiting: (() => void)[]
}

export class CallGate {
  #lines = new Map<string, Line>()

  /** @throws Busy where it was not its turn within five seconds */
  async run<T>(tenant: string | null, kind: CallKind, call: () => T | Promise<T>): Promise<T> {
    if (tenant === null) return call()
    const name = `${kind} ${tenant}`
    const line = this.#lines.get(name) ?? { underWay: 0, waiting: [] }
    this.#lines.set(name, line)
    if (line.underWay < MOST_UNDER_WAY) line.underWay++
    else await this.#turn(line, kind)
    try {
      return await readingFor(tenant, call)
    } finally {
      // The next one takes the place over.
      const next = line.waiting.shift()
      if (next) next()
      else if (--line.underWay === 0) this.#lines.delete(name)
    }
  }

  async #turn({ waiting }: Line, kind: CallKind): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(resolve)
    await within(TURN_WITHIN_MS, promise, () => {
      waiting.splice(waiting.indexOf(resolve), 1)
      throw new Busy(kind)
    })
  }
}

/** A call with `dryRun` in its body only counts. */
export const isDryRun = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && (input as { dryRun?: unknown }).dryRun === true

/** A registered symbol, since a host may have two copies of this package. */
const UNGATED = Symbol.for('@svc/core.ungated')

/** The config of a route whose requests are not counted: one that other services ask about each request. */
export const withoutGate = <Config extends object>(config: Config): Config => ({
  ...config,
  [UNGATED]: true,
})

/** Passes the requests of all routes that follow through the gate, by the tenant of `request.auth`. */
export function gateRoutes(api: FastifyInstance, gate: Pick<CallGate, 'run'>): void {
  // Fastify makes a HEAD of each GET with the same handler.
  const gated = new WeakSet<RouteHandlerMethod>()
  api.addHook('onRoute', (route) => {
    const { handler, config = {} } = route
    if (gated.has(handler) || Reflect.get(config, UNGATED) === true) return
    const inTurn: RouteHandlerMethod = function (request, reply) {
      const tenant = reachOf((request as { auth?: { tenant?: string | null } | null }).auth)
      if (tenant === null) return handler.call(this, request, reply)
      return gate.run(tenant, kindOf(request), async () => handler.call(this, request, reply))
    }
    gated.add(inTurn)
    route.handler = inTurn
  })
}

const kindOf = ({ method, body }: FastifyRequest): CallKind =>
  method === 'GET' || method === 'HEAD' || isDryRun(body) ? 'reads' : 'changes'

/**
 * Routes of our packages that control access themselves: the host's guard does not run before them.
 */

const OWN_ACCESS = Symbol.for('@svc/core.ownAccess')

/**
 * The config of a route that decides itself about access: the guard of svcAuth lets its requests
 * pass.
 */
export const withOwnAccess = <Config extends object>(config: Config): Config => ({
  ...config,
  [OWN_ACCESS]: true,
})

export const hasOwnAccess = (config: object): boolean => Reflect.get(config, OWN_ACCESS) === true
