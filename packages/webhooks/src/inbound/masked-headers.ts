/** Headers as they may be kept and shown: without what authenticates a request. */

const SECRET = /auth|cookie|sign|token|secret|hmac|key|mac$|password|jwt|verification|digest/i
/** Header names that hold one of these words and no secret. */
const PLAIN = /-(?:id|timestamp|type|version|algorithm|method|url|identifier)$/i
const MASK = '***'

/** Names and values in turn, with those masked that hold a signature or a credential. */
export function maskedHeaders(
  rawHeaders: readonly string[],
  hidden: readonly string[] = [],
): string[] {
  return rawHeaders.map((text, place) => {
    const name = rawHeaders[place - 1] ?? ''
    const isSecret = hidden.includes(name.toLowerCase()) || (SECRET.test(name) && !PLAIN.test(name))
    return place % 2 === 1 && isSecret ? MASK : text
  })
}
