/**
 * The names that the code blocks of a document take for granted, since an earlier block or the
 * reader's own application has them, by the document: what its blocks import, each that it does
 * not declare itself.
 */
const APP = `export declare const app: import('fastify').FastifyInstance`
const SVC_CORE = `export declare const svcCore: typeof import('@svc/core').svcCore`
const SVC_WEBHOOKS = `export declare const svcWebhooks: typeof import('@svc/webhooks').svcWebhooks`
const WEBHOOK_ID = `export declare const webhookId: string`

export const NAMES: Record<string, string> = {
  'README.md': APP,
  'CONTRIBUTING.md': `export declare const t: typeof import('tap').default`,
  'packages/auth/README.md': `${APP}
export declare const handler: () => Promise<unknown>
export declare const keyId: string
export declare const userId: string
export declare const customers: {
  find: (tenant: string) => Promise<{ plan: string } | undefined>
}
export declare const svcAuth: typeof import('@svc/auth').svcAuth
`,
  'packages/core/README.md': `${APP}
${SVC_CORE}
`,
  'packages/console/README.md': `${APP}
import type { FastifyRequest } from 'fastify'
export declare const svcConsole: typeof import('@svc/console').svcConsole
type Person = { id: string; isAdmin: boolean } | null
export declare const personOf: (request: FastifyRequest) => Promise<Person>
`,
  'packages/core/docs/events.md': APP,
  'docs/hosts.md': `${APP}
export declare const svcCore: typeof import('@svc/core').svcCore
export declare const svcWebhooks: typeof import('@svc/webhooks').svcWebhooks
export declare const svcAuth: typeof import('@svc/auth').svcAuth
export declare const beforeAll: (run: () => Promise<void>, ms: number) => void
export declare const afterAll: typeof beforeAll
export declare const test: (title: string, run: () => Promise<void>, ms: number) => void
export declare const expect: (value: unknown) => Record<'toBe' | 'toHaveLength', (value: unknown) => void>
`,
  'docs/failover.md': `${APP}
${SVC_CORE}
`,
  'docs/testing.md': `export declare const receiver: typeof import('@svc/testing').receiver`,
  'docs/migrations.md': `${APP}
${SVC_CORE}
`,
  'docs/observability.md': `${APP}
import '@svc/core'
`,
  'packages/webhooks/README.md': `${APP}
export declare const url: string
export declare const order: object
`,
  'packages/webhooks/docs/inbound.md': `${APP}
${SVC_WEBHOOKS}
type Webhooks = typeof import('@svc/webhooks')
export declare const basicAuth: Webhooks['basicAuth']
export declare const headerToken: Webhooks['headerToken']
export declare const hmac: Webhooks['hmac']
`,
  'packages/webhooks/docs/publishing.md': `${APP}
import { integer, pgTable } from 'drizzle-orm/pg-core'
export const orders = pgTable('orders', { id: integer() })
export declare const knex: import('knex').Knex
export declare const kysely: import('kysely').Kysely<{ orders: { id: number } }>
export declare const sql: import('postgres').Sql
interface PrismaTransaction {
  order: { create(input: { data: { id: number } }): Promise<unknown> }
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): Promise<T>
  $executeRawUnsafe(text: string, ...values: unknown[]): Promise<number>
}
export declare const prisma: {
  $transaction<T>(run: (tx: PrismaTransaction) => Promise<T>): Promise<T>
}
`,
  'packages/webhooks/docs/webhook-settings.md': `${APP}
${SVC_WEBHOOKS}
${WEBHOOK_ID}
`,
  ...Object.fromEntries(
    ['from-own-table', 'from-svix', 'from-outpost'].map((guide) => [
      `packages/webhooks/docs/${guide}.md`,
      `${APP}
${SVC_WEBHOOKS}
`,
    ]),
  ),
  'packages/webhooks/docs/feed.md': APP,
  'packages/webhooks/docs/failing-webhooks.md': `${APP}
${SVC_WEBHOOKS}
`,
  'packages/webhooks/docs/operations.md': `${APP}
${SVC_WEBHOOKS}
${WEBHOOK_ID}
export declare const deliveryId: string
`,
  'packages/webhooks/docs/receiving.md': `
export declare const body: string
export declare const headers: Record<string, string>
`,
}

/** Modules that blocks import and that are not installed here, as far as the blocks use them. */
export const MODULES = `
declare module 'prom-client' {
  export class Counter<Label extends string> {
    constructor(settings: { name: string; help: string; labelNames: Label[] })
    inc(labels: Record<Label, string>): void
  }
}
`
