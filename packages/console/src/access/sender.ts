/** The origin of a request, by its headers. */
import type { FastifyRequest } from 'fastify'
import { cookieOf, tokenIn } from './cookie.ts'
import { whyForeign, whyNoChange, type Sender } from './same-origin.ts'
import { ForeignOrigin, JsonNeeded } from '../errors.ts'

export const tokenOf = (request: FastifyRequest, path: string): string | undefined =>
  tokenIn(request.headers.cookie, cookieOf(request, path))

const senderOf = (request: FastifyRequest, ownOrigin: string | null): Sender => {
  const { origin, 'sec-fetch-site': site } = request.headers
  return {
    origin,
    site: site === undefined ? undefined : String(site),
    host: request.host,
    isSecure: request.protocol === 'https',
    ownOrigin,
  }
}

/** @throws ForeignOrigin, JsonNeeded */
export function assertMayChange(request: FastifyRequest, ownOrigin: string | null): void {
  assertJson(request)
  const problem = whyNoChange(senderOf(request, ownOrigin))
  if (problem !== null) throw new ForeignOrigin(problem)
}

/** @throws ForeignOrigin: what is read stays within the console too */
export function assertMayRead(request: FastifyRequest, ownOrigin: string | null): void {
  const problem = whyForeign(senderOf(request, ownOrigin))
  if (problem !== null) throw new ForeignOrigin(problem)
}

/** A form of another site cannot send JSON. @throws JsonNeeded */
export function assertJson({ headers }: FastifyRequest): void {
  const type = headers['content-type'] ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type)) throw new JsonNeeded()
}
