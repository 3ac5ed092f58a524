// promise: Deliveries are signed as Standard Webhooks specifies, also with ed25519, and what is signed so for one webhook is valid at no other
import { createHmac } from 'node:crypto'
import t from 'tap'
import {
  deliveryBody,
  describingHeaders,
  signingHeaders,
  type Signing,
} from '../../../../packages/webhooks/src/outbound/delivery/request.ts'
import { headerNames } from '../../../../packages/webhooks/src/outbound/settings/header-names.ts'

const names = headerNames('X-Svc-')
const deliveryId = '018f4e5a-7b1c-7def-8abc-0123456789ab'
const payload = '{"id":42,"big":12345678901234567890,"text":"żółć \\u0000 😀"}'
const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const previousSecret = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA='
const body = deliveryBody('order.created', payload, deliveryId)
const message = { event: 'order.created', deliveryId, attempt: 3, body }

function headers(signing: Signing): Record<string, string> {
  const flat = [
    ...describingHeaders(message, names),
    ...signingHeaders(message, signing, 1700000000, names),
  ]
  return Object.fromEntries(
    flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!]] : [])),
  )
}

t.test('the body carries the payload as the text that it is', async (t) => {
  t.equal(
    body.toString(),
    `{"event":"order.created","payload":${payload},"deliveryId":"${deliveryId}"}`,
  )
})

// The signatures of this file were made with `openssl dgst -sha256 -hmac`, but for the last one.
t.test('timestamp and body are signed with the whole secret', async (t) => {
  t.same(headers({ secret, previousSecrets: [], standardWebhooks: false }), {
    'X-Svc-Signature': 'sha256=01ffc2a027fb25b2dd2d3bf95583b526cff0d1d9f2b69b1095f9032df67a9233',
    'X-Svc-Timestamp': '1700000000',
    'X-Svc-Delivery-Id': deliveryId,
    'X-Svc-Event': 'order.created',
    'X-Svc-Attempt': '3',
  })
})

t.test('while secrets overlap the old one signs in a header of its own', async (t) => {
  const both = headers({ secret, previousSecrets: [previousSecret], standardWebhooks: false })
  t.equal(
    both['X-Svc-Signature'],
    'sha256=01ffc2a027fb25b2dd2d3bf95583b526cff0d1d9f2b69b1095f9032df67a9233',
  )
  t.equal(
    both['X-Svc-Signature-Previous'],
    'sha256=0c6130d47ba462a0285a9d88e438e19ed26ad01c59c7dc8c2e56af045930beda',
  )
})

t.test(
  'of more old ones the newest signs there, and all of them as in Standard Webhooks',
  async (t) => {
    const older = 'whsec_b2xkZXItc2VjcmV0LW9mLXRoaXJ0eS10d28tYnl0ZXM='
    const all = headers({
      secret,
      previousSecrets: [previousSecret, older],
      standardWebhooks: false,
    })
    t.equal(
      all['X-Svc-Signature-Previous'],
      'sha256=0c6130d47ba462a0285a9d88e438e19ed26ad01c59c7dc8c2e56af045930beda',
    )
    const v1 = (key: string) => {
      const bytes = Buffer.from(key.slice('whsec_'.length), 'base64')
      const signed = Buffer.concat([Buffer.from(`${deliveryId}.1700000000.`), body])
      return `v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`
    }
    t.equal(all['webhook-signature'], [secret, previousSecret, older].map(v1).join(' '))
    t.equal(all['webhook-id'], deliveryId)
  },
)

t.test(
  'Standard Webhooks headers sign the id too, with the bytes of the secret, and list both secrets',
  async (t) => {
    const one = headers({ secret, previousSecrets: [], standardWebhooks: true })
    t.equal(one['webhook-id'], deliveryId)
    t.equal(one['webhook-timestamp'], '1700000000')
    t.equal(one['webhook-signature'], 'v1,WI8XarnOve2NuQEdl5Fw6ghwxexz4SzKxhUvhM+Fmqk=')
    t.equal(
      headers({ secret, previousSecrets: [previousSecret], standardWebhooks: true })[
        'webhook-signature'
      ],
      'v1,WI8XarnOve2NuQEdl5Fw6ghwxexz4SzKxhUvhM+Fmqk= v1,WBnvZA8Qcq1upssUYFEf0ELH4Hty4XI478XenBsgLPE=',
    )
  },
)

t.test("the Standard Webhooks specification's own example comes out as published", async (t) => {
  const example = {
    event: 'x',
    deliveryId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    attempt: 1,
    body: Buffer.from('{"test": 2432232314}'),
  }
  const signing = {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    previousSecrets: [],
    standardWebhooks: true,
  }
  t.equal(
    signingHeaders(example, signing, 1614265330, names).at(-1),
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})
