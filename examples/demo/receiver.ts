/**
 * A receiver of webhooks, in a process of its own: what a customer of the host would run.
 * /ok answers at once, /flaky fails twice for each delivery, /silent never answers.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { verifyDelivery } from '@svc/webhooks/receiver'

/** Path → the secret that its webhook was registered with. */
const secrets = new Map<string, string>()
const attempts = new Map<string, number>()

export interface Received {
  path: string
  verified: boolean
  answered: number | null
  attempt: number
  signature: string
  delivery: { event: string; payload: unknown; deliveryId: string } | null
}

process.on('message', ({ path, secret }: { path: string; secret: string }) => {
  secrets.set(path, secret)
})
// A terminal's Ctrl-C reaches the whole group; the teller says when it is over.
process.on('SIGINT', () => {})
// The story is over, or its teller is gone.
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
  tell({
    path,
    verified: delivery !== null,
    answered: status,
    attempt,
    signature: String(request.headers['x-svc-signature']),
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
  if (path === '/silent') return null
  return path === '/flaky' && attempt <= 2 ? 500 : 204
}

function tell(received: Received): void {
  process.send?.({ received })
}
