/** A tunnel through an HTTP proxy (RFC 9110, section 9.3.6: CONNECT). */
import { isIP, isIPv6, connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface Proxy {
  url: URL
  /** The value of `Proxy-Authorization`; `null` for none. */
  authorization: string | null
  /** A tunnel could not be had. */
  failed(error: ProxyFault): void
}

/** The proxy cannot be reached, or gives no tunnel. */
export class ProxyFault extends Error {
  readonly code = 'SVC_WEBHOOKS_PROXY'
  /** What it answered; `null` where it did not answer. */
  readonly statusCode: number | null
  constructor(problem: string, statusCode: number | null = null) {
    super(`the proxy ${problem}`)
    this.statusCode = statusCode
  }
}

const MAX_HEAD_BYTES = 16 * 1024

/**
 * Opens a tunnel to an address.
 *
 * @throws ProxyFault
 */
export async function openTunnel(
  proxy: Proxy,
  address: string,
  port: number,
  { signal, ca }: { signal: AbortSignal; ca?: string | undefined },
): Promise<Socket> {
  const socket = connectToProxy(proxy.url, ca)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = (problem: string) => reject(new ProxyFault(problem))
  const onError = (error: NodeJS.ErrnoException) =>
    fail(`cannot be reached: ${error.code ?? error.message}`)
  const onClose = () => fail('closed the connection before it answered')
  const onAbort = () => fail('did not answer in time')
  const onData = tunnelReader(socket, resolve, reject)
  socket.on('error', onError).on('close', onClose).on('data', onData)
  signal.addEventListener('abort', onAbort)
  socket.write(connectRequest(address, port, proxy.authorization))
  try {
    await promise
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    socket.off('close', onClose).off('data', onData)
    signal.removeEventListener('abort', onAbort)
    // A socket that is destroyed may still report an error.
    if (!socket.destroyed) socket.off('error', onError)
  }
}

/** The address of the proxy is not judged: the host gave it. */
function connectToProxy({ protocol, hostname, port }: URL, ca: string | undefined): Socket {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80), noDelay: true })
  return connectTls({
    host,
    port: Number(port || 443),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
  })
}

function connectRequest(address: string, port: number, authorization: string | null): string {
  const target = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const credentials = authorization === null ? '' : `Proxy-Authorization: ${authorization}\r\n`
  return `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${credentials}\r\n`
}

const isInterim = (status: string): boolean => status.startsWith('1') && status !== '101'

/** Reads the answer to a CONNECT. Bytes behind it are those of the receiver. */
function tunnelReader(
  socket: Socket,
  resolve: () => void,
  reject: (error: ProxyFault) => void,
): (chunk: Buffer) => void {
  let read = Buffer.alloc(0)
  return (chunk) => {
    read = Buffer.concat([read, chunk])
    let status: string | undefined
    let end: number
    do {
      end = read.indexOf('\r\n\r\n')
      if (end === -1) {
        if (read.length > MAX_HEAD_BYTES) reject(new ProxyFault('sent an answer that is too long'))
        return
      }
      status = /^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(read.toString('latin1', 0, end + 2))?.[1]
      if (status === undefined) return reject(new ProxyFault('sent an answer that is not HTTP'))
      // An interim answer is passed over (RFC 9110, section 15.2).
      if (isInterim(status)) read = read.subarray(end + 4)
    } while (isInterim(status))
    if (!status.startsWith('2')) {
      return reject(new ProxyFault(`answered ${status} to CONNECT`, Number(status)))
    }
    socket.pause()
    const rest = read.subarray(end + 4)
    if (rest.length > 0) socket.unshift(rest)
    resolve()
  }
}
