/** A small HTTP CONNECT proxy in this process, which remembers what it was asked for. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'

export interface ConnectProxy {
  url: string
  port: number
  /** Targets of tunnels, and the credentials that came. */
  asked: { target: string; authorization: string | undefined }[]
  /** What it answers: 200 makes a tunnel, `null` says nothing at all. */
  answer: (target: string) => number | null
  /** What it writes before its answer. @default nothing */
  interim?: string
  /** The port that all tunnels lead to. @default that of the target */
  leadsTo?: number
}

export async function startProxy(t: Test): Promise<ConnectProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((_request, reply) => reply.writeHead(405).end())
  server.on('connect', (request, socket: Socket, head: Buffer) => {
    const target = request.url ?? ''
    proxy.asked.push({ target, authorization: request.headers['proxy-authorization'] })
    const status = proxy.answer(target)
    if (status === null) return
    if (proxy.interim !== undefined) socket.write(proxy.interim)
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`)
    const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(target) ?? []
    const upstream = connect(proxy.leadsTo ?? Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(socket)
      socket.pipe(upstream)
    })
    sockets.add(upstream)
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
  })
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const proxy: ConnectProxy = {
    url: `http://127.0.0.1:${port}`,
    port,
    asked: [],
    answer: () => 200,
  }
  return proxy
}
