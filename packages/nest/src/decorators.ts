/** What a handler requires of a request, and who has sent it. */
import { createParamDecorator, type ExecutionContext } from '@nestjs/common'
import type { DiscoveryService, MetadataScanner } from '@nestjs/core'
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js'
import type { Auth, Scope } from '@svc/auth'
import type { FastifyContextConfig, FastifyRequest } from 'fastify'

type Access = Pick<FastifyContextConfig, 'scopes' | 'public'>
type Handler = (...args: never) => unknown

const ACCESS = Symbol('@svc/nest.access')

/**
 * The handler needs a key with any one of these scopes, or `admin`. The option `scopes` of `auth`
 * declares them.
 *
 * @example
 * @Post() @Scopes('orders:write') create() {}
 */
export const Scopes = (...scopes: [Scope, ...Scope[]]): MethodDecorator =>
  access('Scopes', { scopes })

/**
 * The handler takes requests without a key. A valid key is recognised all the same, and one that is not
 * valid is refused.
 */
export const PublicRoute = (): MethodDecorator => access('PublicRoute', { public: true })

/**
 * Who has sent the request, `request.auth`, as a parameter of a handler: `null` without a key.
 *
 * @example
 * @Get() list(@Caller() caller: Auth) {}
 */
export const Caller: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Auth | null =>
    context.switchToHttp().getRequest<FastifyRequest>().auth,
)

function access(name: string, demand: Access): MethodDecorator {
  return (_prototype, _name, descriptor) => {
    const handler: unknown = descriptor?.value
    if (typeof handler !== 'function') {
      throw new TypeError(`@${name}() decorates one handler of a controller, such as a @Get()`)
    }
    const known = Reflect.getMetadata(ACCESS, handler) as Access | undefined
    Reflect.defineMetadata(ACCESS, { ...known, ...demand }, handler)
  }
}

/**
 * Puts what handlers require into the config of their routes. It is done at boot, since a `@RouteConfig()`
 * that stands above ours replaces all that was there.
 */
export function configureRoutes(discovery: DiscoveryService, scanner: MetadataScanner): void {
  for (const { metatype } of discovery.getControllers()) {
    const prototype = (metatype as { prototype: Record<string, Handler> } | null)?.prototype
    if (!prototype) continue
    for (const name of scanner.getAllMethodNames(prototype)) {
      const handler = prototype[name]!
      const own = Reflect.getMetadata(ACCESS, handler) as Access | undefined
      if (own === undefined) continue
      const config = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as
        | object
        | undefined
      Reflect.defineMetadata(FASTIFY_ROUTE_CONFIG_METADATA, { ...config, ...own }, handler)
    }
  }
}
