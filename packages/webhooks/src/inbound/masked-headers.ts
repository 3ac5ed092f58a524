/** Headers as they may be kept and shown: without what authenticates a request. */

const SECRET = /auth|cookie|sign|token|secret|hmac|key|mac$|password|jwt|verification|digest/i
/** Header names that hold one of these words and no secret. */
const PLAIN = /-(?:id|timestamp|type|version|algorithm|method|url|identifier)$/i
const MASK = '***'

/**
 * Names and values in turn, with those masked that hold a signature or a credential.
 *
 * @param hidden names that are masked whatever they are called
 * @param shown names that are not masked, unless they are hidden
 */
export function maskedHeaders(
  rawHeaders: readonly string[],
  hidden: readonly string[] = [],
  shown: readonly string[] = [],
): string[] {
  const isSecret = (name: string): boolean =>
    hidden.includes(name) || (SECRET.test(name) && !PLAIN.test(name) && !shown.includes(name))
  return rawHeaders.map((text, place) =>
    place % 2 === 1 && isSecret((rawHeaders[place - 1] ?? '').toLowerCase()) ? MASK : text,
  )
}
