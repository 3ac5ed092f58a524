import type { Preset } from '../preset.ts'
import type { SignatureScheme } from '../preset-schemes.ts'
import { hmac, timedHmac } from './hmac.ts'
import { standardWebhooks } from './standard-webhooks.ts'

const ofTwilio = {
  signature: { in: 'header:x-twilio-signature' },
  encoding: 'base64',
  urls: {
    anyPort: true,
    normalised: true,
    without: [
      'AccountSid',
      'ApiVersion',
      'Body',
      'CallSid',
      'CallStatus',
      'Called',
      'Caller',
      'Digits',
      'Direction',
      'From',
      'MessageSid',
      'MessageStatus',
      'NumMedia',
      'SmsSid',
      'SmsStatus',
      'To+',
      'To%2B',
    ],
  },
} as const

/** By the key that signs, and by whether the URL has the hash of the body or the fields follow it. */
const twilioSchemes = (
  [
    {
      algorithm: 'hmac-sha1',
      when: { 'header:x-twilio-webhooks-signature-settings': false },
    },
    {
      algorithm: 'hmac-sha256',
      when: { 'header:x-twilio-webhooks-signature-settings#algorithm': 'HMAC_SHA256' },
    },
  ] as const
).flatMap(({ algorithm, when }): SignatureScheme[] => [
  {
    ...ofTwilio,
    algorithm,
    when: { ...when, 'query:bodySHA256': true },
    signed: '{url}',
    binds: [{ in: 'query:bodySHA256', hash: 'sha256' }],
  },
  {
    ...ofTwilio,
    algorithm,
    when: { ...when, 'query:bodySHA256': false },
    signed: '{url}{params}',
  },
])

/** Telephony and short messages. */
export const telephony = {
  twilio: {
    name: 'Twilio',
    docs: 'https://www.twilio.com/docs/usage/webhooks/webhooks-security',
    checked: 'vector',
    checkedOn: '2026-11-27',
    evidence: 'twilio@6.3.1',
    secret:
      "the account's auth token; where a webhook rule signs with a key of its own, that key too, as a list",
    needs: ['publicOrigin'],
    reads: 'json or form',
    schemes: twilioSchemes,
    type: ['{form:MessageStatus}', '{form:SmsStatus}', '{form:CallStatus}', '{json:type}'],
    id: '{header:i-twilio-idempotency-token}',
    deduplicate: '{url}{params}',
    note: 'The URL is signed as Twilio calls it, with its query. For a JSON body the query has its hash. URL and fields are signed without anything between: the query must not hold the name of a field, such as `AccountSid`, but as a name of its own, nor may a parameter of the path; the names of fields must begin with a letter.',
  },
  vonage: {
    name: 'Vonage',
    docs: 'https://developer.vonage.com/en/getting-started/concepts/webhooks',
    checked: 'documentation',
    checkedOn: '2026-11-26',
    evidence: 'Nexmo/nexmo-developer, _documentation/en/messages/concepts/signed-webhooks.md',
    secret: "the account's signature secret",
    schemes: [
      {
        algorithm: 'jwt',
        in: 'header:authorization',
        prefix: 'Bearer ',
        algorithms: ['HS256'],
        key: 'secret',
        issuer: 'Vonage',
        toleranceSeconds: 300,
        binds: [{ in: 'claim:payload_hash', hash: 'sha256' }],
      },
    ],
    type: ['{json:status}', '{json:message_type}'],
    deduplicate: [
      '{json:message_uuid}:{json:status|}',
      '{json:uuid}:{json:status|}:{json:timestamp|}',
    ],
  },
  messagebird: {
    name: 'MessageBird',
    docs: 'https://developers.messagebird.com/api/#verifying-http-requests',
    checked: 'vector',
    checkedOn: '2026-11-22',
    evidence: 'messagebird/messagebird-nodejs, lib/testdata/webhook-signature-jwt-reference.json',
    secret: "the account's signing key",
    needs: ['publicOrigin'],
    reads: 'any',
    schemes: [
      {
        algorithm: 'jwt',
        in: 'header:messagebird-signature-jwt',
        algorithms: ['HS256'],
        key: 'secret',
        issuer: 'MessageBird',
        binds: [
          { in: 'claim:url_hash', of: '{url}', hash: 'sha256' },
          { in: 'claim:payload_hash', hash: 'sha256' },
        ],
      },
    ],
    type: ['{json:type}', '{json:status}'],
    deduplicate: ['{json:type}:{json:message.id}:{json:message.updatedDatetime|}', '{body}'],
  },
  plivo: {
    name: 'Plivo',
    docs: 'https://www.plivo.com/docs/voice/concepts/signature-validation',
    checked: 'sdk',
    checkedOn: '2026-11-22',
    evidence: 'plivo/plivo-node, lib/utils/v3Security.js',
    secret: "the account's auth token",
    needs: ['publicOrigin'],
    reads: 'form',
    schemes: [
      hmac('x-plivo-signature-v3', {
        separator: ',',
        encoding: 'base64',
        signed: '{url}?{params}.{header:x-plivo-signature-v3-nonce}',
      }),
    ],
    type: ['{form:Event}', '{form:CallStatus}', '{form:Status}'],
    deduplicate: '{params}',
    note: 'For signature version 3, and a POST of a form to a URL without a query. Names and values of its fields are signed without anything between.',
  },
  telnyx: {
    name: 'Telnyx',
    docs: 'https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks',
    checked: 'sdk',
    checkedOn: '2026-11-22',
    evidence: 'team-telnyx/telnyx-node, src/lib/webhooks.ts',
    secret: "the account's public key (base64)",
    schemes: [
      {
        algorithm: 'ed25519',
        signature: { in: 'header:telnyx-signature-ed25519' },
        encoding: 'base64',
        key: { encoding: 'base64', form: 'raw' },
        signed: '{timestamp}|{body}',
        timestamp: { in: 'header:telnyx-timestamp', toleranceSeconds: 300 },
      },
    ],
    type: '{json:data.event_type}',
    deduplicate: '{json:data.id}',
  },
  surge: {
    name: 'Surge',
    docs: 'https://docs.surge.app/api-reference/webhooks/signature-validation',
    checked: 'sdk',
    checkedOn: '2026-11-27',
    evidence: '@surgeapi/node@0.30.0; of Surge-Signature the page before this one',
    secret: 'the signing secret of the endpoint (whsec_…)',
    schemes: [
      standardWebhooks,
      { ...timedHmac('surge-signature', ['t', 'v1'], 300), when: { 'header:webhook-id': false } },
    ],
    type: '{json:type}',
    id: ['{header:webhook-id}', '{json:id}'],
    deduplicate: '{body}',
    note: 'Endpoints that have not moved to Standard Webhooks are signed in the header `Surge-Signature`, with the secret as it is.',
  },
} as const satisfies Record<string, Preset>
