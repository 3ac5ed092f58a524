/** A server that receives webhooks, in a process of its own: svcWebhooks, or a route by hand. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import pg from 'pg'
import { svcCore } from '@svc/core'
import { hmac, svcWebhooks, type InboundSource, type SvcWebhooksOptions } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { serve } from '../process.ts'
import { PATH, SECRET } from './throughput.ts'

const secretName = 'GITHUB_SECRET'
const written: InboundSource = {
  path: PATH,
  publishAs: 'github.push',
  verify: hmac({ signatureHeader: 'x-hub-signature-256', secretName, prefix: 'sha256=' }),
  deduplicationKey: ({ headers }) => String(headers['x-github-delivery']),
}
const { deduplicationKey: _, ...repeated } = written

/** What each contender with the plugin does otherwise than the defaults. */
const OPTIONS = {
  svcWebhooks: { inbound: { github: written } },
  'svcWebhooks without deduplication': { inbound: { github: repeated } },
  'svcWebhooks without the log': { inbound: { github: written }, inboundLog: false },
  'svcWebhooks, preset': {
    inbound: { github: providers.github({ path: PATH, secretName, publishAs: 'github.push' }) },
  },
} satisfies Record<string, Partial<SvcWebhooksOptions>>

export type InboundName = 'by hand' | keyof typeof OPTIONS

let app: FastifyInstance | undefined
let pool: pg.Pool | undefined

const methods = {
  async start(name: InboundName, database: string): Promise<number> {
    app = Fastify()
    if (name === 'by hand') await byHand(app, database)
    else await withPlugin(app, database, OPTIONS[name])
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
  },
  async stop(): Promise<void> {
    await app?.close()
    await pool?.end()
    app = pool = undefined
  },
}
export type InboundMethods = typeof methods
serve(methods)

async function withPlugin(
  to: FastifyInstance,
  database: string,
  options: Partial<SvcWebhooksOptions>,
) {
  await to.register(svcCore, { database, secrets: () => SECRET, worker: { enabled: false } })
  await to.register(svcWebhooks, { allowedEvents: [], ...options })
}

async function byHand(to: FastifyInstance, database: string): Promise<void> {
  const client = (pool = new pg.Pool({ connectionString: database, max: 10 }))
  await client.query(
    'create table if not exists hooks (id text primary key, payload text not null, at timestamptz default now())',
  )
  to.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  to.post<{ Body: Buffer }>(PATH, async ({ headers, body }, reply) => {
    const given = Buffer.from(String(headers['x-hub-signature-256']))
    const right = Buffer.from(`sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`)
    if (given.length !== right.length || !timingSafeEqual(given, right)) {
      return reply.code(401).send({ error: 'bad signature' })
    }
    JSON.parse(body.toString())
    await client.query({
      name: 'hook',
      text: 'insert into hooks (id, payload) values ($1, $2) on conflict do nothing',
      values: [headers['x-github-delivery'], body.toString()],
    })
    return { status: 'accepted' }
  })
}
