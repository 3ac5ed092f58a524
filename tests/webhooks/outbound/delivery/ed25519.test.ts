// promise: Deliveries are signed as Standard Webhooks specifies, also with ed25519, and what is signed so for one webhook is valid at no other
import { createHmac, createPublicKey, randomBytes, verify } from 'node:crypto'
import t from 'tap'
import { verifyDelivery } from '@svc/receiver'
import { Webhook } from 'standardwebhooks'
import {
  parseSeed,
  SigningKeys,
} from '../../../../packages/webhooks/src/outbound/delivery/ed25519.ts'
import {
  deliveryBody,
  signingHeaders,
} from '../../../../packages/webhooks/src/outbound/delivery/request.ts'
import { headerNames } from '../../../../packages/webhooks/src/outbound/settings/header-names.ts'

// RFC 8032, section 7.1, test 1.
const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex')
const raw = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex')
const whsk = (bytes: Buffer) => `whsk_${bytes.toString('base64')}`
const webhookId = '018f4e5a-7b1c-7def-8abc-0123456789ff'
const keys = new SigningKeys([seed])
const [{ publicKey } = { publicKey: '' }] = keys.of(webhookId)

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const deliveryId = '018f4e5a-7b1c-7def-8abc-0123456789ab'
const body = deliveryBody('order.created', '{"id":12345678901234567890}', deliveryId)

function headersOf(standardWebhooks: boolean): Record<string, string> {
  const flat = signingHeaders(
    { event: 'order.created', deliveryId, attempt: 1, body },
    { secret, previousSecrets: [], standardWebhooks, ed25519: keys.of(webhookId) },
    Math.floor(Date.now() / 1000),
    headerNames('X-Svc-'),
  )
  const pairs = Array.from({ length: flat.length / 2 }, (_, at) => flat.slice(2 * at, 2 * at + 2))
  return Object.fromEntries(pairs) as Record<string, string>
}

t.test('a key is a seed, or a seed and its public key', async (t) => {
  t.same(parseSeed(whsk(seed)), seed)
  t.same(parseSeed(whsk(Buffer.concat([seed, raw]))), seed)
})

t.test('the key of a webhook is derived from the seed and its id, as in RFC 5869', async (t) => {
  // HKDF with SHA-256 for one block: without a salt the key of the extraction is 32 zeros.
  const extracted = createHmac('sha256', Buffer.alloc(32)).update(seed).digest()
  const expanded = createHmac('sha256', extracted).update(webhookId).update('\u0001').digest()
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), expanded])
  const spki = createPublicKey({ key: der, format: 'der', type: 'pkcs8' } as never)
  const derived = spki.export({ format: 'der', type: 'spki' }).subarray(-32)
  t.equal(publicKey, `whpk_${derived.toString('base64')}`)
  t.not(publicKey, `whpk_${raw.toString('base64')}`)
  t.equal(keys.publicKeyOf(webhookId), publicKey)
})

t.test('each webhook has a key for each secret, and no other webhook has it', async (t) => {
  const both = new SigningKeys([seed, randomBytes(32)])
  const ids = [webhookId, '018f4e5a-7b1c-7def-8abc-0123456789fe']
  const all = ids.flatMap((id) => both.of(id).map((key) => key.publicKey))
  t.equal(new Set(all).size, 4)
  t.equal(both.publicKeyOf(webhookId), publicKey, 'that of the first secret')
  t.same(both.of(webhookId), both.derive(webhookId))
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
  for (const other of others) t.equal(parseSeed(other), null, other)
})

t.test('a delivery has the signature beside the one of its secret', async (t) => {
  for (const standardWebhooks of [true, false]) {
    const headers = headersOf(standardWebhooks)
    const [v1, v1a, ...others] = headers['webhook-signature']!.split(' ')
    t.match(v1, /^v1,/)
    t.same(others, [])
    const signed = `${deliveryId}.${headers['webhook-timestamp']}.${body.toString()}`
    const bytes = Buffer.from(publicKey.slice('whpk_'.length), 'base64')
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bytes])
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    const signature = Buffer.from(v1a!.slice('v1a,'.length), 'base64')
    t.ok(verify(null, Buffer.from(signed), key, signature))
  }
})

t.test('our receiver verifies it with the public key of that webhook alone', async (t) => {
  const headers = headersOf(false)
  t.match(verifyDelivery({ headers, body, publicKey }), { event: 'order.created' })
  t.match(verifyDelivery({ headers, body, secret }), { event: 'order.created' })
  for (const other of [
    keys.publicKeyOf(deliveryId),
    new SigningKeys([randomBytes(32)]).publicKeyOf(webhookId),
    `whpk_${raw.toString('base64')}`,
  ]) {
    t.throws(() => verifyDelivery({ headers, body, publicKey: other! }), {
      code: 'SVC_DELIVERY_SIGNATURE_MISMATCH',
    })
  }
})

t.test('the official library, which supports v1 only, ignores the ed25519 signature', async (t) => {
  const headers = headersOf(false)
  t.match(new Webhook(secret).verify(body, headers), { event: 'order.created' })
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const content = `${deliveryId}.${headers['webhook-timestamp']}.${body.toString()}`
  const v1 = `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  t.ok(headers['webhook-signature']!.startsWith(v1))
})
