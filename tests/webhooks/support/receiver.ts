/** An HTTP receiver in this process, which remembers what came. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  /** As it came, byte for byte. */
  body: string
  at: number
}

export interface Receiver {
  url: string
  requests: Received[]
  /** Resolves once `count` requests have come. */
  got: (count: number) => Promise<Received[]>
}

/** Answers 200 unless `answer` says otherwise: a status, or whatever it does with the response. */
export async function startReceiver(
  t: Test,
  answer: (request: Received, reply: ServerResponse) => number | void = () => 200,
): Promise<Receiver> {
  const requests: Received[] = []
  let changed = Promise.withResolvers<void>()
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const received = { path: request.url!, headers: request.headers, body, at: Date.now() }
      requests.push(received)
      const status = answer(received, reply)
      if (typeof status === 'number') reply.writeHead(status).end()
      changed.resolve()
      changed = Promise.withResolvers()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests,
    async got(count) {
      while (requests.length < count) await changed.promise
      return requests
    },
  }
}
