/**
 * A receiver of webhooks in a process of its own, as a customer of the host would run one.
 * /ok answers at once, /flaky fails twice for each delivery, /silent does not answer until repaired.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { verifyDelivery } from '@svc/receiver'

/** Path → the secret of its webhook. */
const secrets = new Map<string, string>()
const repaired = new Set<string>()
const attempts = new Map<string, number>()

export interface Received {
  path: string
  verified: boolean
  answered: number | null
  attempt: number
  delivery: { event: string; payload: unknown; deliveryId: string } | null
}

type Message = { path: string; secret: string } | { path: string; repaired: true }

process.on('message', (message: Message) => {
  if ('secret' in message) secrets.set(message.path, message.secret)
  else repaired.add(message.path)
})
// A terminal's Ctrl-C reaches every process of the group; the demo's own process ends this one.
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit(0))

const server = createServer((request, response) => void receive(request, response))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : null })
})

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '/'
  const body = await text(request)
  const delivery = verified(request, body, secrets.get(path) ?? '')
  const attempt = (attempts.get(delivery?.deliveryId ?? '') ?? 0) + 1
  if (delivery) attempts.set(delivery.deliveryId, attempt)
  const status = answerTo(path, delivery !== null, attempt)
  report({
    path,
    verified: delivery !== null,
    answered: status,
    attempt,
    delivery,
  })
  if (status !== null) response.writeHead(status).end()
}

function verified(request: IncomingMessage, body: string, secret: string): Received['delivery'] {
  try {
    return verifyDelivery({ headers: request.headers, body, secret }) as Received['delivery']
  } catch {
    return null
  }
}

function answerTo(path: string, isGenuine: boolean, attempt: number): number | null {
  if (!isGenuine) return 401
  if (path === '/silent' && !repaired.has(path)) return null
  return path === '/flaky' && attempt <= 2 ? 500 : 204
}

function report(received: Received): void {
  process.send?.({ received })
}
