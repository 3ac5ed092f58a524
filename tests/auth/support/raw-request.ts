/** A request byte for byte over TCP: every HTTP client would mend what a test wants broken. */
import { connect, type AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

export interface RawRequest {
  method: string
  target: string
  httpVersion?: string
  headers?: (readonly [name: string, value: string])[]
  body?: string
}

export interface RawAnswer {
  /** `undefined` where the connection ended without an answer. */
  status: number | undefined
  text: string
}

/** Everything that comes back until the server closes, as it is asked to. */
export function rawRequest(app: FastifyInstance, request: RawRequest): Promise<RawAnswer> {
  const { port } = app.server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytesOf(request)))
    const finish = () => {
      const text = Buffer.concat(chunks).toString('latin1')
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? []
      resolve({ status: status === undefined ? undefined : Number(status), text })
    }
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('close', finish)
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server may reset what it refuses; what it said before counts.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
  })
}

function bytesOf({ method, target, httpVersion = '1.1', headers = [], body = '' }: RawRequest) {
  const lines = [`${method} ${target} HTTP/${httpVersion}`]
  if (!headers.some(([name]) => name.toLowerCase() === 'host')) lines.push('Host: localhost')
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  return Buffer.from(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`, 'latin1')
}
