/**
 * Routes of our packages that control access themselves: the host's guard does not run before them.
 */

/** A registered symbol, since a host may have two copies of this package. */
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
