import type { SignaturePlace, SignatureScheme, Timestamp } from '../preset-schemes.ts'

type Own = Partial<Omit<SignatureScheme, 'signature'>>

/** An HMAC of the body, in a header, or in one of several. @default hmac-sha256, written in hex */
export const hmac = (
  headers: string | readonly string[],
  { prefix, separator, ...own }: Own & Pick<SignaturePlace, 'prefix' | 'separator'> = {},
): SignatureScheme => ({
  algorithm: 'hmac-sha256',
  encoding: 'hex',
  signature: {
    in: [headers].flat().map((one) => `header:${one}` as const),
    ...(prefix !== undefined && { prefix }),
    ...(separator !== undefined && { separator }),
  },
  ...own,
})

type Timed = Own & Pick<SignaturePlace, 'separator'> & Pick<Timestamp, 'unit'>

/** A header `t=…,v1=…` with a time and an HMAC of both, `{timestamp}.{body}`. */
export const timedHmac = (
  header: string,
  [time, signature]: readonly [time: string, signature: string],
  toleranceSeconds: number,
  { separator = ',', unit = 'seconds', ...own }: Timed = {},
): SignatureScheme => ({
  algorithm: 'hmac-sha256',
  encoding: 'hex',
  signature: { in: `header:${header}`, separator, field: signature },
  signed: '{timestamp}.{body}',
  timestamp: { in: `field:${time}`, unit, toleranceSeconds },
  ...own,
})
