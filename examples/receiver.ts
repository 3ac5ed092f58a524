// A receiver of webhooks that a host with @svc/webhooks sends: what its customers run.
//   npm install @svc/receiver
//   WEBHOOK_SECRET=whsec_… node receiver.ts
// The host answers with the secret when the webhook is registered:
//   curl <host>/_webhooks -H 'content-type: application/json' \
//     -d '{ "url": "http://127.0.0.1:4000/hook", "events": "*" }'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { InvalidDelivery, verifyDelivery } from '@svc/receiver'

// In production: a table with a unique column, written in the transaction that handles the event.
const handled = new Set<string>()

const server = createServer((request, response) => void receive(request, response))
server.listen(Number(process.env.PORT ?? 4000), () => console.log('listening', server.address()))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.close())

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { event, payload, deliveryId } = verifyDelivery({
      headers: request.headers,
      body: await buffer(request), // as it came: JSON printed anew is not what was signed
      secret: process.env.WEBHOOK_SECRET ?? '',
    })
    // A delivery whose answer was lost comes again.
    if (!handled.has(deliveryId)) console.log(event, payload)
    handled.add(deliveryId)
    response.writeHead(204).end()
  } catch (error) {
    // Not a 2xx: a delivery that was genuine is tried again.
    response.writeHead(error instanceof InvalidDelivery ? error.statusCode : 500).end()
    console.error(error)
  }
}
