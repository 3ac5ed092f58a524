import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Test } from 'tap'

/** The port of a server of this machine, which ends with its connections when the test ends. */
export async function listening(t: Pick<Test, 'teardown'>, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}
