import type { Preset, SignatureScheme } from '../preset.ts'

/** Standard Webhooks 1.0 (https://www.standardwebhooks.com), symmetric. */
export const standardWebhooks = {
  algorithm: 'hmac-sha256',
  signature: { in: 'header:webhook-signature', separator: ' ', prefix: 'v1,' },
  encoding: 'base64',
  key: { strip: 'whsec_', encoding: 'base64' },
  signed: '{header:webhook-id}.{timestamp}.{body}',
  timestamp: { in: 'header:webhook-timestamp', toleranceSeconds: 300 },
} as const satisfies SignatureScheme

/** Standard Webhooks 1.0, asymmetric: for secrets that are public keys. */
export const standardWebhooksPublicKey = {
  algorithm: 'ed25519',
  secretBegins: 'whpk_',
  signature: { in: 'header:webhook-signature', separator: ' ', prefix: 'v1a,' },
  encoding: 'base64',
  key: { strip: 'whpk_', encoding: 'base64', form: 'raw' },
  signed: '{header:webhook-id}.{timestamp}.{body}',
  timestamp: { in: 'header:webhook-timestamp', toleranceSeconds: 300 },
} as const satisfies SignatureScheme

/** The same scheme under the names that Svix's senders had before. */
export const svixHeaders = {
  ...standardWebhooks,
  signature: { in: 'header:svix-signature', separator: ' ', prefix: 'v1,' },
  signed: '{header:svix-id}.{timestamp}.{body}',
  timestamp: { in: 'header:svix-timestamp', toleranceSeconds: 300 },
} as const satisfies SignatureScheme

/** Senders of Standard Webhooks, by either family of headers. */
export const standardWebhooksSenders = {
  standardWebhooks: {
    name: 'Standard Webhooks',
    docs: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
    checked: 'vector',
    evidence: 'standardwebhooks@1.1.1',
    secret: 'the signing secret (whsec_…) or the public key (whpk_…)',
    schemes: [standardWebhooks, standardWebhooksPublicKey],
    type: '{json:type}',
    deduplicate: '{header:webhook-id}',
  },
  svix: {
    name: 'Svix',
    docs: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
    checked: 'vector',
    evidence: 'svix@1.99.1',
    secret: 'the signing secret of the endpoint (whsec_…)',
    schemes: [svixHeaders, standardWebhooks],
    type: ['{json:type}', '{json:event_type}', '{json:eventType}'],
    deduplicate: ['{header:svix-id}', '{header:webhook-id}'],
  },
} as const satisfies Record<string, Preset>
