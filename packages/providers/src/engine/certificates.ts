/**
 * Keys of certificates that a request names. Where a row asks for it the chain is followed to a trusted
 * root, and no certificate in it is trusted unchecked.
 */
import { X509Certificate, type KeyObject } from 'node:crypto'
import { NotFetched } from '../errors.ts'
import type { Certificate } from '../preset-schemes.ts'
import { clientOf, isHost, pinnedTo, type Pin, type ProviderClient } from '../provider-client.ts'

export type CertificateKey = (
  url: string | undefined,
  client: ProviderClient | undefined,
) => Promise<KeyObject>

/**
 * The key of a certificate at a URL. It throws NotFetched where the certificate is from elsewhere, or
 * is not one of the provider.
 */
export function certificateKey(certificate: Certificate): CertificateKey {
  const { names, issuers } = certificate
  const pin = pinnedTo(certificate)
  const pinIssuer = issuers && pinnedTo({ url: '', at: issuers })
  return async (url, client) => {
    const wanted = pin(url)
    const providerClient = clientOf(client)
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

/** Chains of public authorities have one or two certificates between leaf and root. */
const LONGEST_CHAIN = 5
const PEM = /-----BEGIN CERTIFICATE-----[^-]{1,20000}-----END CERTIFICATE-----/g

/**
 * The certificates of a file, the leaf first.
 *
 * @throws NotFetched where the file has no certificate, or one cannot be parsed
 */
function certificatesIn(text: string): [X509Certificate, ...X509Certificate[]] {
  const [leaf, ...others] = (text.match(PEM) ?? []).slice(0, LONGEST_CHAIN).map(parse)
  if (!leaf) throw new NotFetched('what was fetched is no certificate')
  return [leaf, ...others]
}

/** @throws NotFetched */
function assertValidNow(certificate: X509Certificate): void {
  if (!isValidAt(certificate, Date.now())) {
    throw new NotFetched('the certificate is not valid now')
  }
}

export const isValidAt = (
  { validFrom, validTo }: X509Certificate,
  ms: number,
  skewMs = 0,
): boolean => ms + skewMs >= Date.parse(validFrom) && ms - skewMs <= Date.parse(validTo)

/**
 * Follows the issuers of a certificate to a root of `providerClient`. An issuer that the file does
 * not hold is fetched from the URL in the certificate, which must be one of the provider's issuers.
 *
 * @throws NotFetched where the chain ends elsewhere, or a certificate of it is not valid now
 */
async function assertTrusted(
  [leaf, ...given]: readonly [X509Certificate, ...X509Certificate[]],
  pin: Pin,
  providerClient: ProviderClient,
): Promise<void> {
  let child = leaf
  for (let length = 1; length <= LONGEST_CHAIN; length++) {
    assertValidNow(child)
    const issued = (issuer: X509Certificate) => isIssuedBy(child, issuer)
    const root = providerClient.roots.find((one) => isSame(one, child) || issued(one))
    if (root) return assertValidNow(root)
    child = given.find(issued) ?? (await fetchedIssuer(child, pin, providerClient))
  }
  throw new NotFetched('the chain of the certificate is too long')
}

const isSame = (a: X509Certificate, b: X509Certificate): boolean => a.raw.equals(b.raw)

export const isIssuedBy = (child: X509Certificate, issuer: X509Certificate): boolean =>
  issuer.ca && child.checkIssued(issuer) && child.verify(issuer.publicKey)

async function fetchedIssuer(
  child: X509Certificate,
  pin: Pin,
  providerClient: ProviderClient,
): Promise<X509Certificate> {
  // The certificate has a plain URL of its issuer as a binary file. With `.pem` added, the URL has
  // it as PEM.
  const [, address] = /^CA Issuers - URI:http:\/\/(\S+)$/m.exec(child.infoAccess ?? '') ?? []
  if (address === undefined) throw new NotFetched('the certificate has no issuer that is trusted')
  const [issuer] = certificatesIn(await providerClient.text(pin(`https://${address}.pem`)))
  if (isIssuedBy(child, issuer)) return issuer
  throw new NotFetched('the certificate is not signed by the issuer that it names')
}

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw new NotFetched('what was fetched is no certificate')
  }
}
