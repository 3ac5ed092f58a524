/** Routes of our packages with doors of their own: no guard in the host stands before them. */

/** A registered symbol, since a host may have two copies of this package. */
const OWN_ACCESS = Symbol.for('@svc/core.ownAccess')

/** The config of a route that decides itself who may in: the guard of svcAuth lets requests pass. */
export const withOwnAccess = <Config extends object>(config: Config): Config => ({
  ...config,
  [OWN_ACCESS]: true,
})

export const hasOwnAccess = (config: object): boolean => Reflect.get(config, OWN_ACCESS) === true
