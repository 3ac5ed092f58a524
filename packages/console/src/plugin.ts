import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { AlreadyRegistered, InvalidOption } from '@svc/core'
import {
  answerPlainly,
  bootOnCore,
  hideRoutes,
  managementApi,
  readingFor,
  type Core,
} from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { createLinks, createSvcConsole } from './access/portal-links.ts'
import { createSessions } from './access/sessions.ts'
import { usableRights } from './calls/perform.ts'
import type { ConsoleParts } from './console-parts.ts'
import type { Features } from './contract/session.ts'
import { Live } from './live/live.ts'
import { findNewest } from './live/newest.ts'
import { createMasks } from './masks.ts'
import {
  TOO_MUCH,
  tooMuch,
  resolveConsoleOptions,
  type ConsoleSettings,
  type SvcConsoleOptions,
} from './options.ts'
import { prepareDatabase } from './migrations.ts'
import type {} from '@svc/auth'
import { securityHeaders } from './page/headers.ts'
import { readPage, type PageFiles } from './page/page-files.ts'
import { apiRoutes } from './routes/api.ts'
import { pageRoutes, takeMalformedPaths } from './routes/page.ts'
import { portalRoutes } from './routes/portal.ts'
import { tokenOf } from './access/sender.ts'
import { sessionRoutes } from './routes/session.ts'
import { findSessions, shiftSessionExpiry, sweepSessions } from './tables/sessions.ts'

const SWEEP_SECONDS = 600
/** The diagnostics channel on which svcWebhooks publishes the outcome of each inbound request. */
const INBOUND_OUTCOMES = 'svc.webhooks.inbound'
/** What a row of the audit notifies, whichever process wrote it. */
const CHANGES = 'svc.console.changes'
/** What the end of a session notifies, whichever process ended it. */
const ENDED = 'svc.console.ended'

async function svcConsolePlugin(app: FastifyInstance, given: SvcConsoleOptions): Promise<void> {
  const settings = resolveConsoleOptions(given)
  const base = `${app.prefix}${settings.path}`
  const page = readPage({ base, name: settings.theme.name ?? 'Console', logo: settings.theme.logo })
  bootOnCore(
    app,
    '@svc/console',
    (core) => {
      assertFirst(core)
      return prepareDatabase(core)
    },
    (core) => mount(app, core, settings, page),
  )
}

async function mount(
  app: FastifyInstance,
  core: Core,
  settings: ConsoleSettings,
  page: PageFiles,
): Promise<void> {
  const parts = partsOf(core, settings, `${app.prefix}${settings.path}`)
  const { live } = parts
  assertOwnPath(app, parts.base)
  core.lease.declareOptions('svcConsole', { sessionSeconds: settings.sessionSeconds })
  core.queues.onActivity(live.notify)
  core.notifications.listen(CHANGES, live.notify)
  core.notifications.listen(ENDED, live.recheck)
  subscribe(INBOUND_OUTCOMES, live.notify)
  core.svc.console = createSvcConsole(core, parts.links, parts.sessions, live.recheck)
  core.every(SWEEP_SECONDS, 'sessions of the console that have expired', () =>
    sweepSessions(core.db),
  )
  core.onAdvance({ rows: shiftSessionExpiry })
  takeMalformedPaths(app, parts.base)
  const setHeaders = securityHeaders(settings.frameAncestors)
  await app.register(
    async (child) => {
      // After the hooks of the host, so that these values replace theirs.
      child.addHook('onSend', async (_request, reply) => setHeaders(reply))
      pageRoutes(child, page)
      portalRoutes(child, parts)
      await managementApi(child, '/api', async (outer) => {
        await outer.register(async (api) => {
          // The page reads our own bodies, whatever shape the host gives to those of others.
          api.setErrorHandler(answerPlainly)
          hideRoutes(api)
          sessionRoutes(api, parts)
          apiRoutes(api, parts)
        })
      })
    },
    { prefix: settings.path },
  )
  app.addHook('onReady', async () => {
    // The other plugins may come later.
    assertOwnPath(app, parts.base)
    assertSignInPossible(settings, parts.features())
    if (parts.features().auth) await assertGrantable(core, settings)
  })
  // Before the server waits for its connections.
  app.addHook('preClose', async () => {
    unsubscribe(INBOUND_OUTCOMES, live.notify)
    live.close()
  })
}

function partsOf(core: Core, settings: ConsoleSettings, base: string): ConsoleParts {
  const sessions = createSessions(core, settings)
  const live = new Live({
    findNewest: (of) => readingFor(of.tenant, () => findNewest(core, of)),
    findSessions: (ids) => findSessions(core.requestDb, ids),
    log: core.log,
  })
  const features = (): Features => {
    const { auth, webhooks } = core.svc as Partial<typeof core.svc>
    return { auth: auth !== undefined, webhooks: webhooks !== undefined }
  }
  return {
    core,
    settings,
    base,
    sessions,
    features,
    masks: createMasks(settings.redact, core.log),
    links: createLinks(core, sessions, `${settings.origin ?? ''}${base}`),
    live,
    identityOf: (request) => sessions.identify(request, tokenOf(request, base)),
    rightsOf: (identity) => usableRights(identity, features()),
  }
}

/** @throws AlreadyRegistered */
function assertFirst({ svc }: Core): void {
  if ((svc as Partial<typeof svc>).console === undefined) return
  throw new AlreadyRegistered('svcConsole is registered already: register it once')
}

/** @throws InvalidOption where a management API is at the same path: its routes would answer for screens of the page */
function assertOwnPath(app: FastifyInstance, base: string): void {
  const taken = ['/keys', '/feed'].find((end) => app.hasRoute({ method: 'GET', url: base + end }))
  if (taken === undefined) return
  throw new InvalidOption(
    `svcConsole: a management API is at the path ${base} as well (${base}${taken}): give the option "path" another one, such as "/console"`,
  )
}

/** @throws InvalidOption */
function assertSignInPossible(
  { access, signInWithKey }: ConsoleSettings,
  { auth }: Features,
): void {
  if (access !== null || (signInWithKey && auth)) return
  throw new InvalidOption(
    'svcConsole: nobody could sign in: give the option "access", or register svcAuth of @svc/auth',
  )
}

/** @throws InvalidOption */
async function assertGrantable({ svc }: Core, { scopes }: ConsoleSettings): Promise<void> {
  const all = await svc.auth.listScopes({ grantable: true })
  const unknown = scopes.find((scope) => !all.includes(scope))
  if (unknown !== undefined) {
    throw new InvalidOption(
      `svcConsole: the option "scopes" names ${JSON.stringify(unknown)}, which no key can have; there are: ${all.join(', ')}`,
    )
  }
  // A role may hold one of them.
  const given = await svc.auth
    .as({ tenant: null, scopes: [...scopes] })
    .listScopes({ grantable: true })
  const forbidden = TOO_MUCH.find((scope) => given.includes(scope))
  if (forbidden !== undefined) throw tooMuch(forbidden)
}

/**
 * A console for operators, and a portal for tenants, under one path. It shows what the plugins beside
 * it have: users and keys of `@svc/auth`, webhooks and inbound requests of `@svc/webhooks`.
 *
 * Boot rejects with InvalidOption, AlreadyRegistered and the boot errors of `svcCore` (`@svc/core`),
 * and with PageMissing.
 *
 * @example
 * await app.register(svcConsole, { path: '/console' })
 */
export const svcConsole = fp(svcConsolePlugin, { name: '@svc/console', fastify: '5.x' })
