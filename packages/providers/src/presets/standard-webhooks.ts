import type { Preset } from '../preset.ts'
import type { SignatureScheme } from '../preset-schemes.ts'

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

/** Standard Webhooks with a secret that is the key as it is: no base64, nothing stripped. */
export const standardWebhooksTextKey = {
  ...standardWebhooks,
  key: { encoding: 'text' },
} as const satisfies SignatureScheme

/** Standard Webhooks with the names of headers that Svix's senders had before. */
export const svixHeaders = {
  ...standardWebhooks,
  signature: { in: 'header:svix-signature', separator: ' ', prefix: 'v1,' },
  signed: '{header:svix-id}.{timestamp}.{body}',
  timestamp: { in: 'header:svix-timestamp', toleranceSeconds: 300 },
} as const satisfies SignatureScheme

/** By either family of headers, those of Svix first where a request has both. */
export const eitherHeaders = [
  svixHeaders,
  { ...standardWebhooks, when: { 'header:svix-id': false } },
] as const satisfies readonly SignatureScheme[]

const eitherId = ['{header:svix-id}', '{header:webhook-id}'] as const

/** Senders of Standard Webhooks, by either family of headers. */
export const standardWebhooksSenders = {
  standardWebhooks: {
    name: 'Standard Webhooks',
    docs: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
    checked: 'vector',
    checkedOn: '2026-11-22',
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
    checkedOn: '2026-11-26',
    evidence: 'svix@1.99.1',
    secret: 'the signing secret of the endpoint (whsec_…)',
    schemes: eitherHeaders,
    type: ['{json:type}', '{json:event_type}', '{json:eventType}'],
    deduplicate: eitherId,
  },
  clerk: {
    name: 'Clerk',
    docs: 'https://clerk.com/docs/guides/development/webhooks/syncing',
    checked: 'sdk',
    checkedOn: '2026-11-22',
    evidence: 'clerk/javascript, packages/backend/src/webhooks.ts',
    secret: 'the signing secret of the endpoint (whsec_…)',
    schemes: [svixHeaders],
    type: '{json:type}',
    deduplicate: '{header:svix-id}',
  },
  resend: {
    name: 'Resend',
    docs: 'https://resend.com/docs/webhooks/verify-webhooks-requests',
    checked: 'sdk',
    checkedOn: '2026-11-22',
    evidence: 'resend/resend-node, src/webhooks/webhooks.ts',
    secret: 'the signing secret of the webhook (whsec_…)',
    schemes: [svixHeaders],
    type: '{json:type}',
    deduplicate: '{header:svix-id}',
  },
  render: {
    name: 'Render',
    docs: 'https://render.com/docs/webhooks',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: "render-examples/webhook-github-action, app.ts (the provider's example)",
    secret: 'the signing secret of the webhook (whsec_…)',
    schemes: [standardWebhooks],
    type: '{json:type}',
    deduplicate: '{header:webhook-id}',
  },
  lithic: {
    name: 'Lithic',
    docs: 'https://docs.lithic.com/docs/events-api',
    checked: 'sdk',
    checkedOn: '2026-11-22',
    evidence: 'lithic-com/lithic-node, src/resources/webhooks.ts',
    secret: 'the secret of the event subscription (whsec_…)',
    schemes: [standardWebhooks],
    type: '{json:event_type}',
    deduplicate: '{header:webhook-id}',
  },
  dodoPayments: {
    name: 'Dodo Payments',
    docs: 'https://docs.dodopayments.com/developer-resources/webhooks',
    checked: 'sdk',
    checkedOn: '2026-11-22',
    evidence: 'dodopayments/dodopayments-typescript, src/resources/webhooks/webhooks.ts',
    secret: 'the signing secret of the webhook (whsec_…)',
    schemes: [standardWebhooks],
    type: '{json:type}',
    deduplicate: '{header:webhook-id}',
  },
  increase: {
    name: 'Increase',
    docs: 'https://increase.com/documentation/webhooks',
    checked: 'sdk',
    checkedOn: '2026-11-22',
    evidence: 'Increase/increase-typescript, src/resources/events.ts',
    secret: 'the shared secret that the event subscription was made with, as it is',
    schemes: [standardWebhooksTextKey],
    type: '{json:category}',
    deduplicate: '{header:webhook-id}',
  },
  polar: {
    name: 'Polar',
    docs: 'https://polar.sh/docs/integrate/webhooks/delivery',
    checked: 'sdk',
    checkedOn: '2026-11-22',
    evidence: 'polarsource/polar-js, src/webhooks.ts',
    secret: 'the secret of the endpoint, as it is',
    schemes: [standardWebhooksTextKey],
    type: '{json:type}',
    deduplicate: '{header:webhook-id}',
    note: 'The key is the text of the secret. Libraries of Standard Webhooks need its base64.',
  },
  bigcommerce: {
    name: 'BigCommerce',
    docs: 'https://developer.bigcommerce.com/docs/integrations/webhooks',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: 'bigcommerce/docs, docs/integrations/webhooks/https-webhook-overview.mdx',
    secret: "the client secret of the app's API account, as it is",
    schemes: [standardWebhooksTextKey],
    type: '{json:scope}',
    deduplicate: '{header:webhook-id}',
    note: 'The body has only the id of a resource. Fetch the resource from the API.',
  },
  finch: {
    name: 'Finch',
    docs: 'https://developer.tryfinch.com/developer-resources/Webhooks',
    checked: 'vector',
    checkedOn: '2026-11-22',
    evidence: 'Finch-API/finch-api-node, tests/api-resources/webhooks.test.ts',
    secret: 'the secret of the webhook (base64)',
    schemes: [
      {
        ...standardWebhooks,
        signature: { in: 'header:finch-signature', separator: ' ', prefix: 'v1,' },
        signed: '{header:finch-event-id}.{timestamp}.{body}',
        timestamp: { in: 'header:finch-timestamp', toleranceSeconds: 300 },
      },
    ],
    type: '{json:event_type}',
    deduplicate: '{header:finch-event-id}',
  },
  brex: {
    name: 'Brex',
    docs: 'https://developer.brex.com/docs/webhooks/',
    checked: 'documentation',
    checkedOn: '2026-11-27',
    evidence: 'the page; svix@2.5.0 signs for it',
    secret: 'a secret that the API lists for the account (base64)',
    schemes: eitherHeaders,
    type: '{json:event_type}',
    deduplicate: eitherId,
  },
  stytch: {
    name: 'Stytch',
    docs: 'https://stytch.com/docs/workspace-management/webhooks',
    checked: 'documentation',
    checkedOn: '2026-11-27',
    evidence: 'the page; svix@2.5.0 signs for it',
    secret: 'the signing secret of the endpoint (whsec_…)',
    schemes: eitherHeaders,
    type: [
      '{json:source}.{json:object_type}.{json:action}',
      '{json:object_type}.{json:action}',
      '{json:event_type}',
    ],
    deduplicate: eitherId,
    note: 'The type has the source first, and the values as the body has them: `DIRECT.user.CREATE`.',
  },
  incidentIo: {
    name: 'incident.io',
    docs: 'https://docs.incident.io/integrations/webhooks',
    checked: 'documentation',
    checkedOn: '2026-11-27',
    evidence: 'the page; svix@2.5.0 signs for it',
    secret: 'the signing secret of the endpoint (whsec_…)',
    schemes: eitherHeaders,
    type: '{json:event_type}',
    deduplicate: eitherId,
  },
  recallAi: {
    name: 'Recall.ai',
    docs: 'https://docs.recall.ai/docs/authenticating-requests-from-recallai',
    checked: 'documentation',
    checkedOn: '2026-11-27',
    evidence: 'the page; svix@2.5.0 signs for it',
    secret:
      'the verification secret of the workspace (whsec_…); of an older workspace that of the endpoint',
    schemes: eitherHeaders,
    type: '{json:event}',
    deduplicate: eitherId,
  },
} as const satisfies Record<string, Preset>
