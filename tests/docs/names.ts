/**
 * The names that the code blocks of a document take for granted, since an earlier block or the
 * reader's own application has them, by the document: ambient declarations, or a module that
 * declares globals. A module that is not installed here is declared as far as it is used.
 */
const APP = `
import type { FastifyInstance } from 'fastify'
declare global { const app: FastifyInstance }
`

export const NAMES: Record<string, string> = {
  'README.md': APP,
  'CONTRIBUTING.md': `
import tap from 'tap'
declare global { const t: typeof tap }
`,
  'packages/auth/README.md': `${APP}
import type { svcAuth as plugin } from '@svc/auth'
declare global {
  const handler: () => Promise<unknown>
  const keyId: string
  const userId: string
  const svcAuth: typeof plugin
}
`,
  'packages/core/README.md': `${APP}
import type { svcCore as plugin } from '@svc/core'
declare global { const svcCore: typeof plugin }
`,
  'packages/console/README.md': `${APP}
import type { svcConsole as plugin } from '@svc/console'
import type { FastifyRequest } from 'fastify'
declare global {
  const svcConsole: typeof plugin
  const personOf: (request: FastifyRequest) => Promise<{ id: string; isAdmin: boolean } | null>
}
`,
  'packages/core/docs/events.md': APP,
  'docs/migrations.md': `${APP}
import type { svcCore as plugin } from '@svc/core'
declare global { const svcCore: typeof plugin }
`,
  'packages/webhooks/README.md': `${APP}
import '@svc/webhooks'
declare global {
  const url: string
  const order: object
}
`,
  'packages/webhooks/docs/inbound.md': `
declare const app: import('fastify').FastifyInstance
declare const { basicAuth, headerToken, hmac, svcWebhooks }: typeof import('@svc/webhooks')
declare module 'prom-client' {
  export class Counter<Label extends string> {
    constructor(settings: { name: string; help: string; labelNames: Label[] })
    inc(labels: Record<Label, string>): void
  }
}
`,
  'packages/webhooks/docs/publishing.md': `${APP}
import '@svc/webhooks'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import type { Knex } from 'knex'
import type { Kysely } from 'kysely'
import type { Sql } from 'postgres'
const table = pgTable('orders', { id: integer() })
interface PrismaTransaction {
  order: { create(input: { data: { id: number } }): Promise<unknown> }
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): Promise<T>
  $executeRawUnsafe(text: string, ...values: unknown[]): Promise<number>
}
declare global {
  const knex: Knex
  const kysely: Kysely<{ orders: { id: number } }>
  const orders: typeof table
  const sql: Sql
  const prisma: { $transaction<T>(run: (tx: PrismaTransaction) => Promise<T>): Promise<T> }
}
`,
  'packages/webhooks/docs/webhook-settings.md': `${APP}
import * as webhooks from '@svc/webhooks'
declare global {
  const webhookId: string
  const { svcWebhooks }: typeof webhooks
}
`,
  'packages/webhooks/docs/failing-webhooks.md': `${APP}
import * as webhooks from '@svc/webhooks'
declare global { const { svcWebhooks }: typeof webhooks }
`,
  'packages/webhooks/docs/operations.md': `${APP}
import * as webhooks from '@svc/webhooks'
declare global {
  const webhookId: string
  const { svcWebhooks }: typeof webhooks
}
`,
  'packages/webhooks/docs/receiving.md': `
declare const body: string
declare const headers: Record<string, string>
`,
}
