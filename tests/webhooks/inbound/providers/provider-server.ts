/** A server of the test's own in the place of a provider, reached as a host reaches providers. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { Test } from 'tap'
import type { GuardedFetch } from '../../../../packages/providers/src/provider-client.ts'
import { createAddressFilter } from '../../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'
import { createFetch } from '../../../../packages/webhooks/src/outbound/http/fetch.ts'
import { startProxy } from '../../proxy/connect-proxy.ts'
import { listening } from '../../../support/listening.ts'

const tls = (name: string) =>
  readFileSync(new URL(`../../support/tls/${name}.pem`, import.meta.url), 'utf8')

export interface ProviderServer {
  /** The client of a host. Its requests leave through a proxy, which leads all to the server. */
  fetch: GuardedFetch
  /** The URLs that were requested. */
  asked: string[]
}

/**
 * Serves these texts by their URLs, over TLS, under the names of Amazon SNS, PayPal and DigiCert.
 * Any other URL is a redirect to one that must not be requested.
 */
export async function startProvider(
  t: Test,
  texts: Readonly<Record<string, string>>,
): Promise<ProviderServer> {
  const asked: string[] = []
  const certificate = { key: tls('receiver-key'), cert: tls('providers') }
  const server = createServer(certificate, ({ headers, url }, response) => {
    const at = `https://${headers.host}${url}`
    asked.push(at)
    const text = texts[at]
    if (text !== undefined) response.end(text)
    else response.writeHead(302, { location: 'https://127.0.0.1/' }).end()
  })
  const proxy = await startProxy(t)
  proxy.leadsTo = await listening(t, server)
  const client = createFetch({
    timeoutMs: 20_000,
    userAgent: 'test',
    isBlocked: createAddressFilter(['127.0.0.0/8']),
    ca: tls('providers'),
    lookup: (_hostname, _options, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]),
    proxy: { url: new URL(proxy.url), authorization: null, failed: () => {} },
  })
  t.teardown(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  return { fetch: (request) => client.send(request), asked }
}
