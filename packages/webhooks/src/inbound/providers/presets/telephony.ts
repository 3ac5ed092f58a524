import type { Preset } from '../preset.ts'

/** Telephony and short messages. */
export const telephony = {
  twilio: {
    name: 'Twilio',
    docs: 'https://www.twilio.com/docs/usage/webhooks/webhooks-security',
    checked: 'vector',
    evidence: 'twilio@6.2.0',
    secret: "the account's auth token",
    needs: ['publicOrigin'],
    schemes: [
      {
        algorithm: 'hmac-sha1',
        when: { 'query:bodySHA256': true },
        signature: { in: 'header:x-twilio-signature' },
        encoding: 'base64',
        signed: '{url}',
        urls: { anyPort: true, normalised: true },
        binds: [{ in: 'query:bodySHA256', hash: 'sha256' }],
      },
      {
        algorithm: 'hmac-sha1',
        signature: { in: 'header:x-twilio-signature' },
        encoding: 'base64',
        signed: '{url}{params}',
        urls: { anyPort: true, normalised: true },
      },
    ],
    type: ['{form:MessageStatus}', '{form:SmsStatus}', '{form:CallStatus}', '{json:type}'],
    deduplicate: '{header:i-twilio-idempotency-token}',
    note: 'The URL is signed as Twilio calls it, with its query. For a JSON body the query has its hash.',
  },
  vonage: {
    name: 'Vonage',
    docs: 'https://developer.vonage.com/en/getting-started/concepts/webhooks',
    checked: 'documentation',
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
    evidence: 'messagebird/messagebird-nodejs, lib/testdata/webhook-signature-jwt-reference.json',
    secret: "the account's signing key",
    needs: ['publicOrigin'],
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
    deduplicate: '{json:type}:{json:message.id}:{json:message.updatedDatetime|}',
  },
  plivo: {
    name: 'Plivo',
    docs: 'https://www.plivo.com/docs/voice/concepts/signature-validation',
    checked: 'sdk',
    evidence: 'plivo/plivo-node, lib/utils/v3Security.js',
    secret: "the account's auth token",
    needs: ['publicOrigin'],
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-plivo-signature-v3', separator: ',' },
        encoding: 'base64',
        signed: '{url}?{params}.{header:x-plivo-signature-v3-nonce}',
      },
    ],
    type: ['{form:Event}', '{form:CallStatus}', '{form:Status}'],
    deduplicate: '{body}',
    note: 'For signature version 3, and a POST to a URL without a query.',
  },
  telnyx: {
    name: 'Telnyx',
    docs: 'https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks',
    checked: 'sdk',
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
} as const satisfies Record<string, Preset>
