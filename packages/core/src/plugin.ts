import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { assertOneCore, carryCore, coreOf } from './core-of.ts'
import { RunningCore, type Core } from './core.ts'
import type { Svc } from './svc.ts'
import { AlreadyRegistered } from './errors.ts'
import { resolveCoreOptions, type SvcCoreOptions } from './core-options.ts'
import { explainingRights } from './migrations/missing-rights.ts'

declare module 'fastify' {
  interface FastifyInstance {
    svc: Svc
  }
}

async function core(app: FastifyInstance, options: SvcCoreOptions): Promise<void> {
  const settings = resolveCoreOptions(options)
  assertFree(app)
  const closing = new AbortController()
  let started: Promise<RunningCore> | undefined
  // Added before the start: a boot that fails while it runs closes what it makes.
  app.addHook('onClose', async () => {
    closing.abort()
    const running = await started?.catch(() => undefined)
    await running?.close()
  })
  endSessions(app)
  registerUntimed(
    app,
    '@svc/core.start',
    () => (started = RunningCore.start(settings, app.log, closing.signal)),
    (running) => {
      app.decorate('svc', running.svc)
      carryCore(app, running)
      app.addHook('onReady', () => running.ready())
      app.addHook('preClose', async () => {
        running.health.closing()
        running.feed.close()
      })
    },
  )
}

/**
 * Transactions, durable events, actions, a key-value store, secrets and jobs, in Postgres, as
 * `fastify.svc`. The boot fails with one of
 *
 * - InvalidOption: an option is wrong or unknown, no database is given, or a secret of the option
 *   `encryption` is not a key
 * - DatabaseUnreachable, DatabaseTooOld, DatabaseNotUtf8: Postgres does not answer, is older than 15, or
 *   the database has another encoding than UTF8
 * - CitusUnusable: the database has Citus, and is no place for our tables; the message says why
 * - RightsMissing: the role lacks a right, which the message names
 * - SchemaMissing: with `migrate: 'check'`, a table or a queue is missing, which the message names
 * - JobsSchemaDiffers: the tables of pg-boss are not those that the statements need
 * - MigrationBlocked: a migration waited ten minutes for a lock or for another process
 * - AlreadyRegistered: svcCore is registered twice, or the host has a decorator `svc`
 *
 * @example
 * await app.register(svcCore, { database: process.env.DATABASE_URL })
 * await app.svc.events.subscribe('order.created', async (order) => ship(order))
 */
export const svcCore = fp(core, { name: '@svc/core', fastify: '5.x' })

/** The inner side of core; registers `svcCore` with its defaults where the host has not. */
export async function useCore(app: FastifyInstance): Promise<Core> {
  const known = coreOf(app)
  if (known) return known
  await app.register(svcCore)
  return coreOf(app) as Core
}

/**
 * Boots a plugin on core, which is registered with its defaults where the host has not. `start` has
 * no time limit; `mount` adds the decorators, hooks and routes.
 */
export function bootOnCore<Made>(
  app: FastifyInstance,
  name: string,
  start: (core: Core) => Promise<Made>,
  mount: (core: Core, made: Made) => void | Promise<void>,
): void {
  if (!coreOf(app)) void app.register(svcCore)
  registerUntimed(
    app,
    `${name}.start`,
    async () => {
      const core = coreOf(app)
      assertOneCore(app, name)
      // Core has failed: its error is the one that Fastify reports, and nothing is mounted.
      if (!core) return undefined
      return explainingRights(core.db, async () => ({ core, made: await start(core) })).catch(
        (error: Error) => {
          // The host closes while a migration waits. An error would become that of its close().
          if (error.name === 'AbortError') return undefined
          throw error
        },
      )
    },
    (booted) => booted && mount(booted.core, booted.made),
  )
}

/** For how long a peer of HTTP/2 may keep its side of a connection open that this side has ended. */
const HALF_OPEN_MS = 1000

/**
 * Ends the sessions of HTTP/2 when the host closes: idle ones at once, others after their streams. Node
 * before 24 leaves them open, and no version sets a limit to the time in which the other side ends.
 */
function endSessions(app: FastifyInstance): void {
  const sessions = new Set<ServerHttp2Session>()
  app.server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.socket.once('finish', function (this: Socket) {
      setTimeout(() => this.destroy(), HALF_OPEN_MS).unref()
    })
  })
  app.addHook('preClose', async () => {
    for (const session of sessions) session.close()
  })
}

function assertFree(app: FastifyInstance): void {
  if (coreOf(app)) {
    throw new AlreadyRegistered(
      'svcCore is registered already: register it once, and before svcAuth and svcWebhooks, which register it with its defaults where they do not find it',
    )
  }
  if (app.hasDecorator('svc')) {
    throw new AlreadyRegistered('svcCore: the host has a decorator "svc" of its own: rename it')
  }
}

/**
 * Registers a step of the boot that has no time limit. Fastify gives the function of a plugin
 * `pluginTimeout` (10 seconds where the host sets none), and a migration may have to wait longer
 * for a lock. A plugin may be a promise of its function, and for that promise Fastify waits without
 * a limit: `start` runs as such a promise, when everything that was registered before is loaded;
 * then `mount` runs as the plugin, on the same instance.
 *
 * Must not be awaited in the function of the calling plugin, whose own time limit would hold.
 */
function registerUntimed<Made>(
  app: FastifyInstance,
  name: string,
  start: () => Promise<Made>,
  mount: (made: Made) => void | Promise<void>,
): void {
  const pluginOf = (made: Made) => fp(async () => mount(made), { name, fastify: '5.x' })
  const lazy: PromiseLike<ReturnType<typeof pluginOf>> & { name: string } = {
    name,
    // A promise would begin at once, and might reject before Fastify handles it.
    // oxlint-disable-next-line unicorn/no-thenable -- being a thenable is its purpose
    then: (loaded, failed) => start().then(pluginOf).then(loaded, failed),
  }
  void app.register(lazy as unknown as Promise<{ default: never }>)
}
