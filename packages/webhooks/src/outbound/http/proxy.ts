/** The proxy of deliveries: its options, and tunnels through it (RFC 9110, section 9.3.6: CONNECT). */
import { InvalidOption, type Secrets } from '@svc/core'
import {
  isString,
  resolveOptions,
  type OptionRules,
  type ResolvedOptions,
} from '@svc/core/internal'
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIP, isIPv6, connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/**
 * An HTTP proxy that all deliveries leave through, by CONNECT (RFC 9110, section 9.3.6).
 *
 * @example
 * const proxy: ProxyOptions = { url: 'http://proxy.example:3128', secretName: 'PROXY_CREDENTIALS' }
 */
export interface ProxyOptions {
  /** `http://proxy.example:3128`, or `https://…` where the way to the proxy is encrypted as well. */
  url: string
  /** The name of a secret that holds `user:password` for the proxy. @default no credentials */
  secretName?: string | null | undefined
}

const rules: OptionRules = {
  url: {
    expects: 'a URL such as "http://proxy.example:3128", without path, query and credentials',
    is: (value) => typeof value === 'string' && isProxyUrl(value),
    required: true,
  },
  secretName: {
    expects: 'the name of a secret, or null',
    is: (value) => value === null || isString(value),
    default: null,
  },
}

function isProxyUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  const { username, password, pathname, search, hash } = url
  return `${username}${password}${search}${hash}` === '' && pathname === '/'
}

/** @throws InvalidOption */
export const resolveProxy = (given: unknown): ResolvedOptions<ProxyOptions> | null =>
  given === null || given === undefined
    ? null
    : resolveOptions<ResolvedOptions<ProxyOptions>>('svcWebhooks', rules, given, 'proxy.')

interface Log {
  warn(details: object, message: string): void
}

const LOG_EVERY_MS = 60_000

/** @throws InvalidOption where the secret is not there, or is another text */
export async function createProxy(
  { url, secretName }: ResolvedOptions<ProxyOptions>,
  secrets: Pick<Secrets, 'get'>,
  log: Log,
): Promise<Proxy> {
  let loggedAt = -Infinity
  return {
    url: new URL(url),
    authorization: secretName === null ? null : await authorizationOf(secretName, secrets),
    failed(error: ProxyFault) {
      if (performance.now() - loggedAt < LOG_EVERY_MS) return
      loggedAt = performance.now()
      log.warn(
        { err: error, proxy: url },
        'the proxy for deliveries failed; deliveries are postponed',
      )
    },
  }
}

async function authorizationOf(name: string, secrets: Pick<Secrets, 'get'>): Promise<string> {
  const secret = await secrets.get(name)
  // The first colon ends the name of the user (RFC 7617). A line break would begin another header.
  if (secret !== null && /^[^:]+:[^\r\n]*$/.test(secret)) {
    return `Basic ${Buffer.from(secret).toString('base64')}`
  }
  const found = secret === null ? 'it is not set' : 'it is another text'
  throw new InvalidOption(
    `svcWebhooks: the secret "${name}" of the option "proxy" must be user:password, but ${found}`,
  )
}

// A tunnel through an HTTP proxy (RFC 9110, section 9.3.6: CONNECT).

const { request } = process.getBuiltinModule('node:http')

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
const MOST_INTERIM_ANSWERS = 100

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
  const ignore = () => {}
  // Errors of the socket are those of the request on it. One may come when that is over.
  socket.on('error', ignore)
  try {
    const status = await statusOfConnect(socket, proxy, address, port, signal)
    if (status < 200 || status > 299) throw new ProxyFault(`answered ${status} to CONNECT`, status)
    socket.off('error', ignore)
    return socket
  } catch (error) {
    socket.destroy()
    throw error instanceof ProxyFault ? error : new ProxyFault(problemOf(error as Error))
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

/** Sends a CONNECT, and returns the status of the final answer. */
async function statusOfConnect(
  socket: Socket,
  { authorization }: Proxy,
  address: string,
  port: number,
  signal: AbortSignal,
): Promise<number> {
  const target = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const connect = (): ClientRequest =>
    request({
      createConnection: () => socket,
      method: 'CONNECT',
      path: target,
      headers: {
        Host: target,
        ...(authorization === null ? {} : { 'Proxy-Authorization': authorization }),
      },
      maxHeaderSize: MAX_HEAD_BYTES,
      signal,
    })
  let status = await statusOf(connect().end())
  // Node takes an interim answer (RFC 9110, section 15.2) to CONNECT for the final one. The next answer
  // is read by another request on the socket. It is not sent, since it is not ended.
  for (let count = 1; status < 200 && status !== 101; count++) {
    if (count > MOST_INTERIM_ANSWERS) throw new ProxyFault('sent an answer that is too long')
    status = await statusOf(connect())
  }
  return status
}

/** The answer ends with its head. What follows is put back: the receiver or the proxy sent it. */
async function statusOf(sent: ClientRequest): Promise<number> {
  const [{ statusCode }, socket, rest]: [IncomingMessage, Socket, Buffer] = (await once(
    sent,
    'connect',
  )) as never
  if (rest.length > 0) socket.unshift(rest)
  return statusCode as number
}

function problemOf({ name, message, code }: NodeJS.ErrnoException): string {
  if (name === 'AbortError') return 'did not answer in time'
  if (code === 'ECONNRESET') return 'closed the connection before it answered'
  if (code === 'HPE_HEADER_OVERFLOW') return 'sent an answer that is too long'
  if (code?.startsWith('HPE_')) return 'sent an answer that is not HTTP'
  return `cannot be reached: ${code ?? message}`
}
