// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
// Signatures with ed25519, outbound and inbound, judged by node:crypto.
import { createPrivateKey, createPublicKey } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { verifyDelivery } from '@svc/receiver'
import { providers } from '@svc/webhooks/providers'
import type { InboundRequest, InboundSource } from '@svc/webhooks'
import { ProviderClient } from '../../packages/providers/src/provider-client.ts'
import { parseSeed } from '../../packages/webhooks/src/outbound/delivery/ed25519.ts'
import {
  asV1a,
  isSigned,
  isTimely,
  near,
  NOW,
  rawOf,
  pair,
  sentFor,
  signatureOf,
  standardText,
  v1aOf,
  type Sent,
} from './ed25519-signatures.ts'
import { fuzz, throwsOnly } from './fuzz.ts'

const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

t.beforeEach((t) => {
  t.intercept(Date, 'now', { value: () => NOW * 1000 })
})

t.test('a delivery with a v1a signature is accepted only where Node verifies it', async (t) => {
  let accepted = 0
  const publicKey = `whpk_${rawOf(pair).toString('base64')}`
  await fuzz(t, sentFor(asV1a, standardText, ' '), (sent) => {
    const headers = {
      'webhook-id': sent.id,
      'webhook-timestamp': sent.timestamp,
      'webhook-signature': sent.signature,
    }
    let isAccepted = false
    throwsOnly(['InvalidDelivery'], () => {
      try {
        verifyDelivery({ headers, body: sent.body, publicKey })
        isAccepted = true
      } catch (error) {
        // The signature was right.
        if ((error as { code?: string }).code === 'SVC_DELIVERY_BODY_NOT_JSON') isAccepted = true
        throw error
      }
    })
    const isRight =
      isTimely(sent.timestamp, 300) && isSigned(v1aOf(sent.signature), 'base64', standardText(sent))
    if (isAccepted !== isRight) throw new Error(`it is ${isAccepted ? 'accepted' : 'refused'}`)
    if (isAccepted) accepted++
  })
  t.ok(accepted > 0, `${accepted} are accepted`)
})

t.test('a text is read as a public or a signing key only where it is one', async (t) => {
  const body = '{}'
  const headers = {
    'webhook-id': 'a',
    'webhook-timestamp': String(NOW),
    'webhook-signature': asV1a(signatureOf(`a.${NOW}.{}`)),
  }
  const bytes = fc.uint8Array({ minLength: 30, maxLength: 34 }).map((all) => Buffer.from(all))
  const base64 = fc.oneof(fc.constant(rawOf(pair)), bytes).map((one) => one.toString('base64'))
  const text = fc.oneof(
    base64.chain((one) => near(`whpk_${one}`, 'whpk_', '=', '-', '_')),
    base64.chain((one) => near(`whsk_${one}`, 'whsk_', '=')),
    base64.map((one) => `whpk_${one.replaceAll('+', '-').replaceAll('/', '_')}`),
  )
  let accepted = 0
  await fuzz(t, text, (publicKey) => {
    throwsOnly(['InvalidVerification', 'InvalidDelivery'], () => {
      verifyDelivery({ headers, body, publicKey })
      if (publicKey !== `whpk_${rawOf(pair).toString('base64')}`) throw new Error(publicKey)
      accepted++
    })
    const seed = parseSeed(publicKey)
    if (!seed) return
    const der = Buffer.concat([PKCS8_HEAD, seed])
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    const raw = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
    const given = Buffer.from(publicKey.slice('whsk_'.length), 'base64').subarray(32)
    if (given.length > 0 && !raw.equals(given)) throw new Error('its public key is another')
  })
  t.ok(accepted > 0, `${accepted} are the key`)
})

const nowhere = new ProviderClient(async () => ({ statusCode: 404, body: '' }))

interface Preset {
  source: InboundSource
  secret: string
  encoding: 'hex' | 'base64'
  made: (bytes: Buffer) => string
  signedOf: (sent: Omit<Sent, 'signature'>) => string
  headers: (sent: Sent) => Record<string, string>
  signaturesIn: (header: string) => string[]
  tolerance: number
}

const at = { path: '/hooks', secretName: 'KEY' }
/** The signatures are one to one with what they are written as: no other text of the bytes counts. */
const canonical = (encoding: 'hex' | 'base64') => (text: string) => {
  const given = encoding === 'hex' ? text.toLowerCase() : text
  return Buffer.from(text, encoding).toString(encoding) === given ? [text] : []
}
const PRESETS: Record<string, Preset> = {
  discord: {
    source: providers.discord(at),
    secret: rawOf(pair).toString('hex'),
    encoding: 'hex',
    made: (bytes) => bytes.toString('hex'),
    signedOf: ({ timestamp, body }) => timestamp + body,
    headers: ({ signature, timestamp }) => ({
      'x-signature-ed25519': signature,
      'x-signature-timestamp': timestamp,
    }),
    signaturesIn: canonical('hex'),
    tolerance: 600,
  },
  telnyx: {
    source: providers.telnyx(at),
    secret: rawOf(pair).toString('base64'),
    encoding: 'base64',
    made: (bytes) => bytes.toString('base64'),
    signedOf: ({ timestamp, body }) => `${timestamp}|${body}`,
    headers: ({ signature, timestamp }) => ({
      'telnyx-signature-ed25519': signature,
      'telnyx-timestamp': timestamp,
    }),
    signaturesIn: canonical('base64'),
    tolerance: 300,
  },
  standardWebhooks: {
    source: providers.standardWebhooks(at),
    secret: `whpk_${rawOf(pair).toString('base64')}`,
    encoding: 'base64',
    made: asV1a,
    signedOf: standardText,
    headers: ({ id, timestamp, signature }) => ({
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    }),
    signaturesIn: (header) => v1aOf(header).flatMap(canonical('base64')),
    tolerance: 300,
  },
}

for (const [name, preset] of Object.entries(PRESETS)) {
  t.test(`${name} accepts a signature only where Node verifies it`, async (t) => {
    const { source, secret, encoding, made, signedOf, headers, signaturesIn, tolerance } = preset
    let accepted = 0
    await fuzz(
      t,
      sentFor(made, signedOf, name === 'standardWebhooks' ? ' ' : ','),
      async (sent) => {
        const given = headers(sent)
        const request = {
          method: 'POST',
          url: '/hooks',
          headers: given,
          rawHeaders: Object.entries(given).flat(),
          rawBody: Buffer.from(sent.body),
        } as unknown as InboundRequest
        const isAccepted = await source.verify(request, sent.body, () => secret, nowhere)
        const isRight =
          isTimely(sent.timestamp, tolerance) &&
          isSigned(signaturesIn(sent.signature), encoding, signedOf(sent))
        if (isAccepted !== isRight) throw new Error(`it is ${isAccepted ? 'accepted' : 'refused'}`)
        if (isAccepted) accepted++
      },
    )
    t.ok(accepted > 0, `${accepted} are accepted`)
  })
}
