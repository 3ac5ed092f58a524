import type { Preset } from '../preset.ts'
import { snsSchemes } from './sns.ts'

/** Queues, channels and gateways that pass on the events of others. */
export const relays = {
  sns: {
    name: 'Amazon SNS',
    docs: 'https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html',
    checked: 'documentation',
    evidence: 'the page',
    secret: null,
    needs: ['topicArn'],
    reads: 'json',
    schemes: snsSchemes,
    type: '{json:Type}',
    deduplicate: '{json:MessageId}',
    handshakes: [
      {
        method: 'POST',
        when: { 'json:Type': 'SubscriptionConfirmation' },
        confirm: {
          url: '{json:SubscribeURL}',
          hosts: ['sns.*.amazonaws.com', 'sns.*.amazonaws.com.cn'],
        },
        answer: { status: 200 },
      },
      {
        method: 'POST',
        when: { 'json:Type': 'UnsubscribeConfirmation' },
        answer: { status: 200 },
      },
    ],
    note: 'Turn the raw delivery of messages off, because it is unsigned. JSON has the content type `text/plain`.',
  },
  googlePubSub: {
    name: 'Google Cloud Pub/Sub push',
    docs: 'https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions',
    checked: 'documentation',
    evidence: 'the page',
    secret: null,
    needs: ['serviceAccount', 'audience'],
    schemes: [
      {
        algorithm: 'jwt',
        in: 'header:authorization',
        prefix: 'Bearer ',
        algorithms: ['RS256'],
        key: {
          jwks: {
            url: 'https://www.googleapis.com/oauth2/v3/certs',
            hosts: ['www.googleapis.com'],
          },
        },
        issuer: 'https://accounts.google.com',
        binds: [
          { in: 'claim:aud', of: '{option:audience}' },
          { in: 'claim:email', of: '{option:serviceAccount}' },
          { in: 'claim:email_verified', of: 'true' },
        ],
      },
    ],
    type: ['{json:message.attributes.eventType}', 'message'],
    deduplicate: '{json:message.messageId}',
    answer: { status: 204 },
    note: 'If the subscription has no audience, it is the URL of the endpoint. Google signs tokens for everyone, so the service account is checked. The body is not signed.',
  },
  hook0: {
    name: 'Hook0',
    docs: 'https://documentation.hook0.com/tutorials/webhook-authentication',
    checked: 'vector',
    evidence: 'hook0/hook0, clients/conformance',
    secret: 'the secret of the subscription',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-hook0-signature', separator: ',', field: 'v1' },
        encoding: 'hex',
        signed: '{timestamp}.{field:h}.{covered}.{body}',
        timestamp: { in: 'field:t', toleranceSeconds: 300 },
        covers: { names: 'field:h', separator: ' ', each: '{value}', join: '.' },
      },
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-hook0-signature', separator: ',', field: 'v0' },
        encoding: 'hex',
        signed: '{timestamp}.{body}',
        timestamp: { in: 'field:t', toleranceSeconds: 300 },
      },
    ],
    type: '{header:x-event-type}',
    deduplicate: '{header:x-event-id}',
    note: 'A signature over headers (v1) is preferred to one over the body alone (v0).',
  },
  convoy: {
    name: 'Convoy',
    docs: 'https://docs.getconvoy.io/product-manual/signatures',
    checked: 'sdk',
    evidence: 'frain-dev/convoy.js, src/webhook.ts',
    secret: 'the secret of the endpoint',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-convoy-signature', separator: ',', field: 'v1' },
        encoding: 'hex',
        signed: '{timestamp},{body}',
        timestamp: { in: 'field:t', toleranceSeconds: 300 },
      },
    ],
    type: ['{json:event_type}', '{json:type}', '{json:event}'],
    deduplicate: '{header:x-convoy-idempotency-key}',
    note: 'For advanced signatures with SHA-256 in hexadecimal. A project of Convoy can have other settings.',
  },
  qstash: {
    name: 'Upstash QStash',
    docs: 'https://upstash.com/docs/qstash/features/security',
    checked: 'sdk',
    evidence: 'upstash/qstash-js, src/receiver.ts',
    secret: 'the current and the next signing key, as a list',
    schemes: [
      {
        algorithm: 'jwt',
        in: 'header:upstash-signature',
        algorithms: ['HS256'],
        key: 'secret',
        issuer: 'Upstash',
        binds: [{ in: 'claim:body', hash: 'sha256', encoding: 'base64url' }],
      },
    ],
    type: 'message',
    deduplicate: '{header:upstash-message-id}',
  },
  pusher: {
    name: 'Pusher Channels',
    docs: 'https://pusher.com/docs/channels/server_api/webhooks/',
    checked: 'vector',
    evidence: 'pusher/pusher-http-node, tests/integration/webhook.js',
    secret: "the app's secret",
    split: 'events',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-pusher-signature' },
        encoding: 'hex',
      },
    ],
    type: '{item:name}',
    deduplicate: '{body}',
    note: 'Events have no id. A repeat is recognised by the whole body of the request.',
  },
  ably: {
    name: 'Ably',
    docs: 'https://ably.com/docs/platform/integrations/webhooks#security',
    checked: 'documentation',
    evidence: 'ably/docs, src/pages/docs/platform/integrations/webhooks/index.mdx',
    secret: 'the part of the API key behind its colon',
    split: 'items',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-ably-signature' },
        encoding: 'base64',
      },
    ],
    type: '{item:source}',
    deduplicate: '{item:webhookId}:{item:serial}',
    note: 'The preset is for batched requests, which Ably signs.',
  },
  alchemy: {
    name: 'Alchemy',
    docs: 'https://www.alchemy.com/docs/reference/notify-api-quickstart',
    checked: 'documentation',
    evidence: 'alchemyplatform/docs, fern/api-reference/data/webhooks',
    secret: 'the signing key of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-alchemy-signature' },
        encoding: 'hex',
      },
    ],
    type: '{json:type}',
    deduplicate: '{json:id}',
  },
} as const satisfies Record<string, Preset>
