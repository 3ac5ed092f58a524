import type { KeyObject } from 'node:crypto'
import { isHost, NotFetched, type ProviderClient } from '../../provider-client.ts'
import type { Certificate } from '../preset-schemes.ts'
import { assertTrusted, assertValidNow, certificatesIn } from './certificate-chain.ts'

/** How schemes reach what they fetch; absent where a host calls a verification itself. */
export type Fetching = ProviderClient | undefined

/** @throws NotFetched where the certificate is from elsewhere, or is not one of the provider */
export async function certificateKey(
  url: string | undefined,
  { hosts, endsWith = '', names, issuers }: Certificate,
  fetching: Fetching,
): Promise<KeyObject> {
  if (url === undefined) throw new NotFetched('the request names no certificate')
  if (!URL.parse(url)?.pathname.endsWith(endsWith)) {
    throw new NotFetched('the address of the certificate is not one of the provider')
  }
  const providerClient = fetchingOf(fetching)
  const certificates = certificatesIn(await providerClient.text({ url, hosts }))
  const [leaf] = certificates
  assertValidNow(leaf)
  const name = /^CN=(.+)$/m.exec(leaf.subject ?? '')?.[1]?.toLowerCase() ?? ''
  if (names && !names.some((one) => isHost(name, one))) {
    throw new NotFetched('the certificate is of another name')
  }
  if (issuers) await assertTrusted(certificates, issuers, providerClient)
  return leaf.publicKey
}

export function fetchingOf(fetching: Fetching): ProviderClient {
  if (fetching) return fetching
  throw new TypeError('this verification fetches keys: it runs only in a source of svcWebhooks')
}
