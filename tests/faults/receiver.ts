/** Receives what the hosts deliver, verifies it, and fails for a while when it is told to. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { verifyDelivery } from '@svc/receiver'
import type { Attempt, Ledger, WebhookName } from './ledger.ts'

export interface StormReceiver {
  urlOf(webhook: WebhookName): string
  /** What it answers from now on. */
  answer: 'ok' | 'error' | 'nothing'
  /** The webhooks that there are: the path and query to which each delivers, and its secret. */
  webhooks: Map<string, { target: string; secret: string }>
  close(): void
}

/** So that the attempts of the webhook `capped` overlap. */
const CAPPED_TAKES_MS = 200

export async function startReceiver(ledger: Ledger): Promise<StormReceiver> {
  const server = createServer((request, reply) => {
    void receive(request, reply, performance.now()).catch(() => reply.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: StormReceiver = {
    urlOf: (webhook) => `http://127.0.0.1:${port}/${webhook}`,
    answer: 'ok',
    webhooks: new Map(),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return receiver

  async function receive(request: IncomingMessage, reply: ServerResponse, from: number) {
    const [webhook] = request.url!.slice(1).split('?') as [WebhookName]
    const body = await text(request)
    const known = receiver.webhooks.get(webhook)
    // An event of the schedule before comes late, and the webhook has just been made.
    if (known === undefined) return reply.writeHead(503).end()
    // The answer to its registration was lost, and another one was made.
    if (known.target !== request.url) return reply.end()
    const attempt = verified(webhook, known.secret, request, body, from)
    if (attempt === null) return reply.end()
    ledger.attempts.push(attempt)
    reply.once('close', () => {
      if (attempt.until === Infinity) attempt.until = performance.now()
    })
    if (receiver.answer === 'nothing') return
    if (webhook === 'capped') await setTimeout(CAPPED_TAKES_MS)
    if (attempt.until < Infinity) return
    attempt.end = receiver.answer === 'error' ? 'refused' : 'answered'
    attempt.until = performance.now()
    reply.writeHead(attempt.end === 'answered' ? 200 : 500).end()
  }

  function verified(
    webhook: WebhookName,
    secret: string,
    { headers }: IncomingMessage,
    body: string,
    from: number,
  ): Attempt | null {
    try {
      const { payload, deliveryId } = verifyDelivery<{ id: string }>({
        headers,
        body,
        secret,
        // The clock of a host may be wrong.
        toleranceSeconds: 3600,
      })
      const named = [headers['x-svc-delivery-id'], headers['webhook-id'] ?? deliveryId]
      if (named.some((id) => id !== deliveryId)) throw new Error('the headers name another one')
      return { webhook, event: payload.id, deliveryId, from, until: Infinity, end: 'dropped' }
    } catch {
      ledger.forged++
      return null
    }
  }
}
