/** Receives what the hosts deliver, verifies it, and fails for a while when it is told to. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyDelivery } from '@svc/receiver'
import type { Test } from 'tap'
import type { Ledger } from './ledger.ts'

export interface StormReceiver {
  url: string
  /** What it answers from now on. */
  answer: 'ok' | 'error' | 'nothing'
  /** Of the webhook, once there is one. */
  secret: string
}

export async function startReceiver(t: Test, ledger: Ledger): Promise<StormReceiver> {
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (receiver.answer === 'nothing') return
      if (receiver.answer === 'error') return reply.writeHead(500).end()
      try {
        const { payload, deliveryId } = verifyDelivery<{ id: string }>({
          headers: request.headers,
          body: Buffer.concat(chunks),
          secret: receiver.secret,
          // The clock of a host may be wrong.
          toleranceSeconds: 3600,
        })
        ledger.delivered.set(payload.id, [...(ledger.delivered.get(payload.id) ?? []), deliveryId])
      } catch {
        ledger.forged++
      }
      reply.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const receiver: StormReceiver = { url: `http://127.0.0.1:${port}/`, answer: 'ok', secret: '' }
  return receiver
}
