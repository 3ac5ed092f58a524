import { X509Certificate, type KeyObject } from 'node:crypto'
import { isHost, NotFetched, type Outside } from '../../outside.ts'
import type { Certificate } from '../preset.ts'

/** How schemes reach what they fetch; absent where a host calls a verification itself. */
export type Fetching = Outside | undefined

/** @throws NotFetched where the certificate is from elsewhere, or is not one of the provider */
export async function certificateKey(
  url: string | undefined,
  { hosts, endsWith = '', names }: Certificate,
  fetching: Fetching,
): Promise<KeyObject> {
  if (url === undefined) throw new NotFetched('the request names no certificate')
  if (!URL.parse(url)?.pathname.endsWith(endsWith)) {
    throw new NotFetched('the address of the certificate is not one of the provider')
  }
  const pem = await fetchingOf(fetching).text({ url, hosts })
  const certificate = parse(pem)
  const now = Date.now()
  if (now < Date.parse(certificate.validFrom) || now > Date.parse(certificate.validTo)) {
    throw new NotFetched('the certificate is not valid now')
  }
  if (names && !names.some((name) => isHost(commonNameOf(certificate), name))) {
    throw new NotFetched('the certificate is of another name')
  }
  return certificate.publicKey
}

export function fetchingOf(fetching: Fetching): Outside {
  if (fetching) return fetching
  throw new TypeError('this verification fetches keys: it runs only in a source of svcWebhooks')
}

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw new NotFetched('what was fetched is no certificate')
  }
}

const commonNameOf = ({ subject }: X509Certificate): string =>
  /^CN=(.+)$/m.exec(subject ?? '')?.[1]?.toLowerCase() ?? ''
