import type { FastifyRequest } from 'fastify'
import { MissingKey } from './errors.ts'
import type { Auth } from './guard/keys/cached-key.ts'

/**
 * The caller of a request, typed as present.
 *
 * @throws MissingKey (401) where no key was presented: on an open path, or on a `public` route
 * @example
 * app.get('/profile', async (request) => profileOf(authOf(request).userId))
 */
export function authOf(request: FastifyRequest): Auth {
  if (!request.auth) {
    // Fastify's error handler sends them, as the guard does with its own 401.
    throw Object.assign(new MissingKey(), { headers: { 'www-authenticate': 'Bearer' } })
  }
  return request.auth
}
