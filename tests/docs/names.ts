/**
 * The names that the code blocks of a document take for granted, since an earlier block or the
 * reader's own application has them, by the document: what its blocks import, each that it does
 * not declare itself.
 */
const APP = `export declare const app: import('fastify').FastifyInstance`
const SVC_CORE = `export declare const svcCore: typeof import('@svc/core').svcCore`

/** What blocks of any guide of the site may take for granted. */
export const GUIDE = `${APP}
import type { FastifyRequest } from 'fastify'
${SVC_CORE}
export declare const svcAuth: typeof import('@svc/auth').svcAuth
export declare const svcWebhooks: typeof import('@svc/webhooks').svcWebhooks
export declare const svcConsole: typeof import('@svc/console').svcConsole
export declare const keyId: string
export declare const webhookId: string
export declare const deliveryId: string
export declare const url: string
export declare const order: object
export declare const receiver: typeof import('@svc/testing').receiver
export declare const body: string
export declare const headers: Record<string, string>
type Person = { id: string; isAdmin: boolean } | null
export declare const personOf: (request: FastifyRequest) => Promise<Person>
`

export const NAMES: Record<string, string> = {
  'README.md': APP,
  'CONTRIBUTING.md': `export declare const t: typeof import('tap').default`,
  'docs/webhooks/test.md': `${GUIDE}export declare const beforeAll: (run: () => Promise<void>, ms: number) => void
export declare const afterAll: typeof beforeAll
export declare const test: (title: string, run: () => Promise<void>, ms: number) => void
export declare const expect: (value: unknown) => Record<'toBe' | 'toHaveLength', (value: unknown) => void>
`,
  'docs/webhooks/publish.md': `${APP}
import '@svc/core'
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
  // It declares events of its own, which those of other packages would have to know.
  'docs/webhooks/define-and-handle.md': APP,
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
