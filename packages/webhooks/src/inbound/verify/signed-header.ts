/** Parses a signature header. One of its signatures must match. */
export interface ExtractedSignature {
  signature: string | readonly (string | undefined)[] | undefined
  timestamp?: string | number | undefined
}

/** Names the fields of a header such as `t=1700000000,v1=5257a8…,v1=98b0…`. */
export interface SignatureFields {
  /** Name of the field that holds the signature; the field may be repeated. */
  signature: string
  /** Name of the field that holds the timestamp. @default none */
  timestamp?: string | undefined
  /** Text between two fields. @default "," */
  separator?: string | undefined
}

/** The signatures of a header and the timestamp beside them. */
export interface SignedHeader {
  signatures: string[]
  timestamp: string | undefined
}

/** Reads `name=value` fields; other fields and other text are ignored. */
export function readFields(header: string, fields: SignatureFields): SignedHeader | undefined {
  const valuesOf = (wanted: string | undefined): string[] =>
    header.split(fields.separator ?? ',').flatMap((field) => {
      const end = field.indexOf('=')
      return end > 0 && field.slice(0, end).trim() === wanted ? [field.slice(end + 1).trim()] : []
    })
  const timestamps = valuesOf(fields.timestamp)
  // Two timestamps are refused: one might be the signed one and the other the checked one.
  if (timestamps.length > 1) return undefined
  return { signatures: valuesOf(fields.signature), timestamp: timestamps[0] }
}

/** The result of a host's function; `null` or `undefined` if it cannot read the header. */
export type Extracted =
  | ExtractedSignature
  | string
  | readonly (ExtractedSignature | string)[]
  | null
  | undefined

/** Reads with a host's function, which may throw at a malformed header. */
export function readWith(
  extract: (header: string) => Extracted,
  header: string,
): SignedHeader | undefined {
  let found: Extracted
  try {
    found = extract(header)
  } catch {
    return undefined
  }
  const entries = [found ?? []]
    .flat()
    .map((one) => (typeof one === 'string' ? { signature: one } : one))
  const signatures = entries
    .flatMap((entry) => entry?.signature ?? [])
    .filter((one) => typeof one === 'string')
  const timestamps = new Set(
    entries
      .map((entry) => entry?.timestamp ?? undefined)
      .filter(isTimestamp)
      .map(String),
  )
  if (entries.length === 0 || timestamps.size > 1) return undefined
  return { signatures, timestamp: [...timestamps][0] }
}

const isTimestamp = (value: unknown) => typeof value === 'string' || typeof value === 'number'
