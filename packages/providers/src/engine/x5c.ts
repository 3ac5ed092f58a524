/** Keys of the certificates that a JWT holds itself (RFC 7515, section 4.1.6). */
import { Buffer } from 'node:buffer'
import { X509Certificate, type KeyObject } from 'node:crypto'
import type { CertificateText } from '../preset.ts'
import type { Chain } from '../preset-schemes.ts'
import { isIssuedBy, isValidAt } from './certificates.ts'

/** Clocks differ. */
const SKEW_MS = 60_000

/**
 * The key of the first certificate; `undefined` where the chain does not lead to a root of the provider. It
 * is judged at the time when the JWT was made, which the key signs: a notification is as genuine when its
 * certificate is over.
 */
export function x5cKey({ roots, extensions }: Chain) {
  const trusted = roots.map(certificateIn)
  return (x5c: unknown, atMs: number | undefined): KeyObject | undefined => {
    // The last is the root, which is known.
    if (!Array.isArray(x5c) || x5c.length !== extensions.length + 1) return undefined
    if (atMs === undefined || !x5c.every((one) => typeof one === 'string')) return undefined
    const chain = certificatesIn(x5c.slice(0, extensions.length))
    const [leaf, intermediate] = chain
    if (!leaf || !intermediate) return undefined
    const isOf = (root: X509Certificate): boolean =>
      isIssuedBy(leaf, intermediate) &&
      isIssuedBy(intermediate, root) &&
      [...chain, root].every((one) => isValidAt(one, atMs, SKEW_MS))
    const isMarked = chain.every((one, place) => hasExtension(one, extensions[place] ?? ''))
    return isMarked && trusted.some(isOf) ? leaf.publicKey : undefined
  }
}

function certificatesIn(x5c: readonly string[]): X509Certificate[] {
  try {
    return x5c.map((text) => new X509Certificate(Buffer.from(text, 'base64')))
  } catch {
    return []
  }
}

/** @throws Error for what is no certificate */
export function certificateIn(text: CertificateText): X509Certificate {
  const isBase64 = typeof text === 'string' && !text.includes('-----BEGIN')
  return new X509Certificate(isBase64 ? Buffer.from(text, 'base64') : text)
}

/** RFC 5280, section 4.1: the extensions are the last field of what is signed. */
function hasExtension({ raw }: X509Certificate, id: string): boolean {
  const [certificate] = elementsIn(raw)
  const [signed] = certificate ? elementsIn(certificate.value) : []
  const last = signed && elementsIn(signed.value).at(-1)
  if (last?.tag !== EXTENSIONS) return false
  const [list] = elementsIn(last.value)
  return elementsIn(list?.value ?? Buffer.alloc(0)).some(({ value }) =>
    elementsIn(value)[0]?.value.equals(objectIdentifier(id)),
  )
}

const EXTENSIONS = 0xa3

interface Element {
  tag: number
  value: Buffer
}

/** The elements of DER (X.690): of a certificate that has been parsed, and with tags of one byte. */
function elementsIn(der: Buffer): Element[] {
  const elements: Element[] = []
  let at = 0
  while (at + 1 < der.length) {
    const tag = der[at] ?? 0
    const first = der[at + 1] ?? 0
    const longer = first < 0x80 ? 0 : first - 0x80
    if (longer > 4 || at + 2 + longer > der.length) return elements
    const length = longer === 0 ? first : der.readUIntBE(at + 2, longer)
    const start = at + 2 + longer
    elements.push({ tag, value: der.subarray(start, start + length) })
    at = start + length
  }
  return elements
}

/** X.690, section 8.19. */
function objectIdentifier(id: string): Buffer {
  const [first = 0, second = 0, ...others] = id.split('.').map(Number)
  const bytes = [first * 40 + second, ...others].flatMap((number) => {
    const groups = [number & 0x7f]
    for (let rest = number >>> 7; rest > 0; rest >>>= 7) groups.unshift((rest & 0x7f) | 0x80)
    return groups
  })
  return Buffer.from(bytes)
}
