/** Receivers made of bare sockets, which answer with whatever bytes a test wants. */
import { readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type SecureVersion, type TlsOptions } from 'node:tls'
import type { Test } from 'tap'
import { listening } from '../../support/listening.ts'

export interface HostileReceiver {
  port: number
  /** Connections that it has had. With TLS, those without a handshake count as well. */
  connections: number
  /** Connections that are open. */
  open: Set<Socket>
  /** How many whole requests have come. */
  requests: number
  /** The last request, as it came. */
  request: string
  /** The codes of the handshakes that have failed. */
  tlsErrors: string[]
}

/** Listens on 127.0.0.1 until the test ends. `answer` is called once a request's headers and body have arrived. */
export async function hostileReceiver(
  t: Test,
  answer: (socket: Socket) => void,
): Promise<HostileReceiver> {
  return await listen(t, createServer(), 'connection', answer)
}

/** Acts as soon as somebody connects. */
export async function acceptingReceiver(
  t: Test,
  accepted: (socket: Socket) => void,
): Promise<HostileReceiver> {
  return await listen(t, createServer(accepted), 'connection', () => {})
}

/** Says its piece as soon as somebody connects. */
export const hastyReceiver = (t: Test, bytes: string): Promise<HostileReceiver> =>
  acceptingReceiver(t, (socket) => void socket.end(bytes))

export interface TlsSettings {
  /** Both are for `receiver.test`. @default the one from {@link testAuthority} */
  certificate?: 'receiver' | 'expired'
  /** @default up to TLS 1.3 */
  onlyVersion?: SecureVersion
  /** Further options of the server. */
  options?: TlsOptions
}

/** The same over TLS. */
export async function hostileTlsReceiver(
  t: Test,
  answer: (socket: Socket) => void,
  { certificate = 'receiver', onlyVersion, options = {} }: TlsSettings = {},
): Promise<HostileReceiver> {
  const server = createTlsServer({
    key: pem(`${certificate}-key.pem`),
    cert: pem(`${certificate}.pem`),
    // Versions below TLS 1.2 are offered at this level alone.
    ...(onlyVersion && {
      minVersion: onlyVersion,
      maxVersion: onlyVersion,
      ciphers: 'DEFAULT:@SECLEVEL=0',
    }),
    ...options,
  })
  const receiver = await listen(t, server, 'secureConnection', answer)
  server.on('tlsClientError', ({ code }: NodeJS.ErrnoException) => {
    receiver.tlsErrors.push(code ?? '')
  })
  return receiver
}

/**
 * Issued the certificate in ./tls, which is valid for a hundred years, and whose key was thrown away afterwards:
 * `openssl req -x509 -new -subj '/CN=svc test authority'`, then `openssl x509 -req` for `DNS:receiver.test`.
 */
export const testAuthority = (): string => pem('authority.pem')

/** Signed by itself, and over since 2020: `openssl ca -selfsign -enddate 200102000000Z`. */
export const expiredCertificate = (): string => pem('expired.pem')

/** A file of ./tls. */
export const pem = (name: string): string =>
  readFileSync(new URL(`./tls/${name}`, import.meta.url), 'utf8')

async function listen(
  t: Test,
  server: Server,
  event: 'connection' | 'secureConnection',
  answer: (socket: Socket) => void,
): Promise<HostileReceiver> {
  const receiver: HostileReceiver = {
    port: 0,
    connections: 0,
    open: new Set(),
    requests: 0,
    request: '',
    tlsErrors: [],
  }
  server.on('connection', (socket: Socket) => {
    receiver.connections++
    receiver.open.add(socket)
    socket.on('close', () => receiver.open.delete(socket))
    socket.on('error', () => {})
  })
  server.on(event, (socket: Socket) => {
    socket.on('error', () => {})
    let request = ''
    socket.on('data', (bytes: Buffer) => {
      request += bytes.toString('latin1')
      if (!isWhole(request)) return
      receiver.requests++
      receiver.request = request
      request = ''
      answer(socket)
    })
  })
  receiver.port = await listening(t, server)
  return receiver
}

/** Until the receiver has no connection left: a cut exchange leaves none behind. */
export async function gone({ open }: HostileReceiver): Promise<void> {
  for (const socket of open) await new Promise((resolve) => socket.once('close', resolve))
}

function isWhole(request: string): boolean {
  const [headers = '', body] = request.split('\r\n\r\n', 2)
  return (
    body !== undefined && body.length >= Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0)
  )
}
