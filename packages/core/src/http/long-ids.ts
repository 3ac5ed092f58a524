/**
 * The router takes no parameter that is longer than its option `maxParamLength` (100), and Fastify
 * answers 414. That option is the host's, so what it leaves over is taken by wildcards.
 */
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
} from 'fastify'

/** The 404 of a path below the prefix whose ids are too long to exist. */
export type UnknownId = (path: string) => Error

interface Group {
  methods: Set<string>
  config: FastifyContextConfig
}

const DEFAULT_LENGTH = 100

/**
 * Watches the routes of an API that take an id. The function that it returns adds the wildcards,
 * which require the scopes of the routes that they replace.
 */
export function watchIds(api: FastifyInstance): (unknownId: UnknownId) => void {
  const groups = new Map<string, Group>()
  const taken = new Set<string>()
  api.addHook('onRoute', ({ method, routePath, config = {} }) => {
    if (routePath.endsWith('*')) taken.add(routePath)
    const end = routePath.indexOf(':')
    // Fastify adds the HEAD of each GET itself.
    if (end === -1 || method === 'HEAD') return
    const head = routePath.slice(0, end)
    const group = groups.get(head) ?? { methods: new Set(), config }
    for (const one of [method].flat()) group.methods.add(one)
    groups.set(head, group)
  })
  return (unknownId) => {
    for (const [head, { methods, config }] of groups) {
      if (taken.has(`${head}*`)) continue
      const answer = answerOf(head, longestOf(api), unknownId)
      for (const method of methods) {
        const schema: FastifySchema & { hide: boolean } = { hide: true }
        // Before a body is read: with any body the answer is 404.
        api.route({ method, url: `${head}*`, config, schema, onRequest: answer, handler: answer })
      }
    }
  }
}

function answerOf(head: string, longest: number, unknownId: UnknownId) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { '*': rest } = request.params as { '*': string }
    if (rest.length > longest) throw unknownId(`${head}${rest}`)
    // Another path below the prefix, which no route was registered for.
    reply.callNotFound()
    return reply
  }
}

/** Older versions of Fastify have the option on the server itself. */
function longestOf({ initialConfig }: FastifyInstance): number {
  const options = { ...initialConfig, ...initialConfig.routerOptions } as {
    maxParamLength?: number
  }
  return options.maxParamLength ?? DEFAULT_LENGTH
}
