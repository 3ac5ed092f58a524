import t from 'tap'
import { hmac } from '@svc/webhooks'
import {
  deliveryBody,
  signingHeaders,
} from '../../../packages/webhooks/src/outbound/delivery/request.ts'
import { headerNames } from '../../../packages/webhooks/src/outbound/settings/header-names.ts'
import { holding, received } from '../inbound/received.ts'

const payload = '{"id":12345678901234567890,"text":"Zürich 🔑"}'
const body = deliveryBody('order.created', payload, '0199')
const message = { event: 'order.created', deliveryId: '0199', attempt: 1, body }

/** The header lines of a delivery that is sent now. */
const sent = (): [string, string][] => {
  const signing = { secret: 'whsec_new', previousSecrets: [], standardWebhooks: true }
  const now = Math.floor(Date.now() / 1000)
  const flat = signingHeaders(message, signing, now, headerNames('X-Svc-'))
  return Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at]!, flat[2 * at + 1]!])
}

t.test('another host receives our deliveries as a source', async (t) => {
  const verify = hmac({
    signatureHeader: 'x-svc-signature',
    secretName: 'SVC_SECRET',
    prefix: 'sha256=',
    timestampHeader: 'x-svc-timestamp',
    toleranceSeconds: 300,
    computePayload: (text, timestamp) => `${timestamp}.${text}`,
  })
  const request = received(sent(), body)
  t.equal(await verify(request, body.toString(), holding('whsec_new')), true)
  t.equal(await verify(request, body.toString(), holding('whsec_old')), false)
})
