import { createHmac, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import t from 'tap'
import { verifyDelivery } from '@svc/receiver'
import { Webhook } from 'standardwebhooks'
import { parseSigningKey } from '../../../../packages/webhooks/src/outbound/delivery/ed25519.ts'
import {
  deliveryBody,
  signedHeaders,
} from '../../../../packages/webhooks/src/outbound/delivery/sign.ts'

// RFC 8032, section 7.1, test 1.
const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex')
const raw = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex')
const whsk = (bytes: Buffer) => `whsk_${bytes.toString('base64')}`
const whpk = `whpk_${raw.toString('base64')}`

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const deliveryId = '018f4e5a-7b1c-7def-8abc-0123456789ab'
const body = deliveryBody('order.created', '{"id":12345678901234567890}', deliveryId)

function headersOf(standardWebhooks: boolean): Record<string, string> {
  const flat = signedHeaders(
    { event: 'order.created', deliveryId, attempt: 1, body },
    { secret, previousSecret: null, standardWebhooks, ed25519: parseSigningKey(whsk(seed)) },
    Math.floor(Date.now() / 1000),
  )
  const pairs = Array.from({ length: flat.length / 2 }, (_, at) => flat.slice(2 * at, 2 * at + 2))
  return Object.fromEntries(pairs) as Record<string, string>
}

t.test('a key is a seed, or a seed and its public key', async (t) => {
  t.equal(parseSigningKey(whsk(seed))?.publicKey, whpk)
  t.equal(parseSigningKey(whsk(Buffer.concat([seed, raw])))?.publicKey, whpk)
})

t.test('a text of another form is not a signing key', async (t) => {
  const others = [
    '',
    'whsk_',
    seed.toString('base64'),
    whsk(seed).replace('whsk_', 'whsec_'),
    whsk(seed.subarray(1)),
    whsk(Buffer.concat([seed, seed])),
    whsk(Buffer.concat([seed, raw, raw])),
    `${whsk(seed)} `,
    whsk(seed).replace('w', '-'),
  ]
  for (const other of others) t.equal(parseSigningKey(other), null, other)
})

t.test('a delivery has the signature beside the one of its secret', async (t) => {
  for (const standardWebhooks of [true, false]) {
    const headers = headersOf(standardWebhooks)
    const [v1, v1a, ...others] = headers['webhook-signature']!.split(' ')
    t.match(v1, /^v1,/)
    t.same(others, [])
    const signed = `${deliveryId}.${headers['webhook-timestamp']}.${body.toString()}`
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw])
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    const signature = Buffer.from(v1a!.slice('v1a,'.length), 'base64')
    t.ok(verify(null, Buffer.from(signed), key, signature))
  }
})

t.test('our receiver verifies it with the public key', async (t) => {
  const headers = headersOf(false)
  t.match(verifyDelivery({ headers, body, publicKey: whpk }), { event: 'order.created' })
  t.match(verifyDelivery({ headers, body, secret }), { event: 'order.created' })
  const { publicKey } = generateKeyPairSync('ed25519')
  const other = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  t.throws(() => verifyDelivery({ headers, body, publicKey: `whpk_${other.toString('base64')}` }), {
    code: 'SVC_DELIVERY_SIGNATURE_MISMATCH',
  })
})

t.test('the official library, which supports v1 only, ignores the ed25519 signature', async (t) => {
  const headers = headersOf(false)
  t.match(new Webhook(secret).verify(body, headers), { event: 'order.created' })
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const content = `${deliveryId}.${headers['webhook-timestamp']}.${body.toString()}`
  const v1 = `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  t.ok(headers['webhook-signature']!.startsWith(v1))
})
