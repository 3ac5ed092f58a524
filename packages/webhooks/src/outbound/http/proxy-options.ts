import { InvalidOption, type Secrets } from '@svc/core'
import {
  isString,
  resolveOptions,
  type OptionRules,
  type ResolvedOptions,
} from '@svc/core/internal'
import type { Proxy, ProxyFault } from './proxy-tunnel.ts'

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
