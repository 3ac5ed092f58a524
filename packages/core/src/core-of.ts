/** The inner side of core, which a host's instance carries beside `fastify.svc`. */
import type { FastifyInstance } from 'fastify'
import type { Core } from './core.ts'
import { InvalidOption, VersionsDiffer } from './errors.ts'
import type { HostUnderTest } from './host-under-test.ts'
import { PACKAGE_FOLDER, VERSION } from './package-folder.ts'

/**
 * The symbols are in the registry of symbols, so that two copies of this package find each other's
 * core.
 */
const INNER = Symbol.for('@svc/core.inner')
const COPY = Symbol.for('@svc/core.copy')
const NO_SERVER = Symbol.for('@svc/core.no-server')

interface Copy {
  version: string
  folder: string
}

const OWN: Copy = { version: VERSION, folder: PACKAGE_FOLDER.href }

type Carrier = { [INNER]?: Core; [COPY]?: Copy; [NO_SERVER]?: true }

export const coreOf = (app: FastifyInstance): Core | undefined => (app as Carrier)[INNER]

/** Of the host under test, for `@svc/testing`. Boots the host where that has not been done. @throws InvalidOption */
export async function hostUnderTest(app: FastifyInstance, caller: string): Promise<HostUnderTest> {
  if (typeof app?.ready !== 'function') {
    throw new InvalidOption(`${caller} takes a Fastify instance with svcCore as its first argument`)
  }
  await app.ready()
  const core = coreOf(app)
  if (core) return core.underTest
  throw new InvalidOption(
    `${caller}: this instance has no svcCore. Pass the instance on which svcCore, svcAuth or svcWebhooks is registered.`,
  )
}

export function carryCore(app: FastifyInstance, core: Core): void {
  app.decorate(INNER as never, core as never)
  app.decorate(COPY as never, OWN as never)
}

/** Marks an instance that never listens: nothing has routes on it. */
export function markWithoutServer(app: FastifyInstance): void {
  app.decorate(NO_SERVER as never, true as never)
}

export const hasServer = (app: FastifyInstance): boolean => !(app as Carrier)[NO_SERVER]

/**
 * The packages use inner parts of core, which any version may change.
 *
 * @param name the package that uses this copy
 * @throws VersionsDiffer where the host has registered another version
 */
export function assertOneCore(app: FastifyInstance, name: string): void {
  const registered = (app as Carrier)[COPY]
  if (!registered || registered.folder === OWN.folder) return
  if (registered.version !== OWN.version) {
    throw new VersionsDiffer(
      `${name} uses @svc/core ${OWN.version} in ${OWN.folder}, and the host has registered @svc/core ${registered.version} in ${registered.folder}: install the same version of all @svc packages`,
    )
  }
  app.log.warn(
    { package: name, uses: OWN.folder, registered: registered.folder },
    '@svc/core is loaded twice, so that errors of one copy are no instances of the classes of the other: let the package manager install it once',
  )
}
