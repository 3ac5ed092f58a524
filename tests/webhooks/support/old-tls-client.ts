/** A client of Node's own that accepts outdated TLS. */
import { once } from 'node:events'
import { connect, type SecureVersion } from 'node:tls'
import { testAuthority } from './hostile-receiver.ts'

/** The version of TLS that a receiver of `receiver.test` agrees to. Rejects where there is none. */
export async function versionWith(port: number, minVersion: SecureVersion): Promise<string | null> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: 'receiver.test',
    ca: testAuthority(),
    minVersion,
    ciphers: 'DEFAULT:@SECLEVEL=0', // without it OpenSSL signs nothing below TLS 1.2
  })
  try {
    await once(socket, 'secureConnect')
    return socket.getProtocol()
  } finally {
    socket.destroy()
  }
}
