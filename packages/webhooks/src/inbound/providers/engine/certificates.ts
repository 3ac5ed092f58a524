import type { KeyObject } from 'node:crypto'
import { isHost, NotFetched, type ProviderClient } from '../../provider-client.ts'
import type { Certificate } from '../preset-schemes.ts'
import { pinnedTo } from './addresses.ts'
import { assertTrusted, assertValidNow, certificatesIn } from './certificate-chain.ts'

/** How schemes reach what they fetch; absent where a host calls a verification itself. */
export type Fetching = ProviderClient | undefined

export type CertificateKey = (url: string | undefined, fetching: Fetching) => Promise<KeyObject>

/**
 * The key of a certificate at a URL. It throws NotFetched where the certificate is from elsewhere, or
 * is not one of the provider.
 */
export function certificateKey(certificate: Certificate): CertificateKey {
  const { names, issuers } = certificate
  const pin = pinnedTo(certificate)
  const pinIssuer = issuers && pinnedTo({ url: '', at: issuers })
  return async (url, fetching) => {
    const wanted = pin(url)
    const providerClient = fetchingOf(fetching)
    const certificates = certificatesIn(await providerClient.text(wanted))
    const [leaf] = certificates
    assertValidNow(leaf)
    const name = /^CN=(.+)$/m.exec(leaf.subject ?? '')?.[1]?.toLowerCase() ?? ''
    if (names && !names.some((one) => isHost(name, one))) {
      throw new NotFetched('the certificate is of another name')
    }
    if (pinIssuer) await assertTrusted(certificates, pinIssuer, providerClient)
    return leaf.publicKey
  }
}

export function fetchingOf(fetching: Fetching): ProviderClient {
  if (fetching) return fetching
  throw new TypeError('this verification fetches keys: it runs only in a source of svcWebhooks')
}
