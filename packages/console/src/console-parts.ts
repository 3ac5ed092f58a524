/** The common parts of the console's routes. */
import type { Core } from '@svc/core/internal'
import type { FastifyRequest } from 'fastify'
import type { Identity } from './access/identity.ts'
import type { Links } from './access/portal-links.ts'
import type { Sessions } from './access/sessions.ts'
import type { Features } from './contract/session.ts'
import type { Right } from './rights.ts'
import type { Live } from './live/live.ts'
import type { Masks } from './masks.ts'
import type { ConsoleSettings } from './options.ts'

export interface ConsoleParts {
  core: Core
  settings: ConsoleSettings
  /** The path of the console in browsers, with the prefix of the host's plugin. */
  base: string
  sessions: Sessions
  masks: Masks
  live: Live
  links: Links
  /** Which plugins are registered: known once the host is ready. */
  features: () => Features
  /** The identity that sends a request; `null` where it is not signed in. */
  identityOf: (request: FastifyRequest) => Promise<Identity | null>
  /**
   * The rights of the identity for which this host has an operation: without svcWebhooks
   * registered, for example, the rights for webhooks are missing.
   */
  rightsOf: (identity: Identity) => Right[]
}
