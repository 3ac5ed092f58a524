import { createHmac } from 'node:crypto'
import { payloadOf } from '../delivery/payload.ts'
import type { RequestPattern } from '../load/load-process.ts'

export const PATH = '/hooks/github'
export const SECRET = 'a secret of the benchmark'

/** Requests as GitHub sends them, each with another delivery id. */
export function signedRequests(from: number, count: number): RequestPattern {
  const body = JSON.stringify(payloadOf(0))
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  return {
    method: 'POST',
    path: PATH,
    headers: ['content-type: application/json', `x-hub-signature-256: sha256=${signature}`],
    body,
    variants: Array.from({ length: count }, (_, n) => `x-github-delivery: ${from + n}`),
  }
}
