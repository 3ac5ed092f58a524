/** One source, a request to it, and what its answer and its log lines look like. */
import { hmac, type InboundSource } from '@svc/webhooks'
import type { Host } from './host.ts'
import { sign } from './received.ts'

export const body = '{"a":1}'
export const secrets = { KEY: 'whsec_a-long-key' }
export const good = sign(body, secrets.KEY).toString('hex')
export const source: InboundSource = {
  path: '/hooks/a',
  publishAs: 'a',
  verify: hmac({ signatureHeader: 'x-signature', secretName: 'KEY' }),
}
export const json = { 'content-type': 'application/json' }

export const post = (
  { app }: Host,
  headers: Record<string, string>,
  payload: string | Buffer = body,
) =>
  app.inject({ method: 'POST', url: '/hooks/a', headers: { ...json, ...headers }, body: payload })

/** The lines about requests that were not taken. */
export const refusals = ({ log }: Host) =>
  log.filter(({ msg }) => msg.startsWith('inbound webhook'))

export const errorBody = (
  statusCode: number,
  code: string,
  error: string,
  message: string | RegExp,
) => ({ statusCode, code, error, message })
