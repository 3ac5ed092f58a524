/** Headers of every answer of the console, whatever headers the host sets. */
import type { FastifyReply } from 'fastify'

/** Scripts, styles and images only from this host, none inline. */
export const contentSecurityPolicy = (frameAncestors: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"}`,
  ].join('; ')

export function securityHeaders(frameAncestors: readonly string[]): (reply: FastifyReply) => void {
  const policy = contentSecurityPolicy(frameAncestors)
  return (reply) => {
    void reply
      .header('content-security-policy', policy)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .header('cross-origin-resource-policy', 'same-origin')
      .removeHeader('content-security-policy-report-only')
    // It cannot name origins. A browser that supports frame-ancestors ignores it, an older one
    // would not.
    if (frameAncestors.length > 0) void reply.removeHeader('x-frame-options')
    else void reply.header('x-frame-options', 'DENY')
  }
}
