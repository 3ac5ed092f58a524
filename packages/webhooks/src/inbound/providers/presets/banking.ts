import type { Preset } from '../preset.ts'

/** Bank accounts, transfers and accounting. */
export const banking = {
  plaid: {
    name: 'Plaid',
    docs: 'https://plaid.com/docs/api/webhooks/webhook-verification/',
    checked: 'documentation',
    evidence: 'the page',
    secret: "the account's API secret",
    needs: ['clientId'],
    schemes: [
      {
        algorithm: 'jwt',
        in: 'header:plaid-verification',
        algorithms: ['ES256'],
        key: {
          jwk: {
            url: 'https://production.plaid.com/webhook_verification_key/get',
            json: {
              client_id: '{option:clientId}',
              secret: '{secret}',
              key_id: '{claim:kid}',
            },
            field: 'key',
          },
        },
        toleranceSeconds: 300,
        binds: [{ in: 'claim:request_body_sha256', hash: 'sha256' }],
      },
    ],
    type: '{json:webhook_type}.{json:webhook_code}',
    deduplicate: '{claim:request_body_sha256}:{claim:iat}',
    note: 'The keys are fetched with the credentials of the account, once for each key id.',
  },
  gocardless: {
    name: 'GoCardless',
    docs: 'https://developer.gocardless.com/api-reference/#appendix-webhooks',
    checked: 'vector',
    evidence: 'gocardless/gocardless-nodejs, src/webhooks.test.ts',
    secret: 'the secret of the webhook endpoint',
    split: 'events',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:webhook-signature' },
        encoding: 'hex',
      },
    ],
    type: '{item:resource_type}.{item:action}',
    deduplicate: '{item:id}',
  },
  wise: {
    name: 'Wise',
    docs: 'https://docs.wise.com/guides/developer/webhooks/event-handling',
    checked: 'documentation',
    evidence: 'the page; transferwise/digital-signatures-examples, verify-webhook-signature',
    secret: 'the public key (PEM) that the page shows, of production or of the sandbox',
    schemes: [
      {
        algorithm: 'rsa-sha256',
        signature: { in: 'header:x-signature-sha256' },
        encoding: 'base64',
      },
    ],
    type: '{json:event_type}',
    deduplicate: '{body}',
    note: 'The id of a delivery is in a header that is not signed. A repeat is recognised by its body.',
  },
  modernTreasury: {
    name: 'Modern Treasury',
    docs: 'https://docs.moderntreasury.com/platform/docs/verifying-webhooks',
    checked: 'vector',
    evidence: 'Modern-Treasury/modern-treasury-node, tests/api-resources/webhooks.test.ts',
    secret: 'the key of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-signature' },
        encoding: 'hex',
      },
    ],
    type: ['{json:data.object}.{json:event}', '{header:x-topic}.{json:event}', '{json:event}'],
    deduplicate: '{body}',
    note: 'Events have no id. A repeat is recognised by its body, which is the same.',
  },
  quickbooks: {
    name: 'QuickBooks Online',
    docs: 'https://developer.intuit.com/app/developer/qbo/docs/develop/webhooks/managing-webhooks-notifications',
    checked: 'documentation',
    evidence: 'the page',
    secret: "the app's verifier token",
    split: '',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:intuit-signature' },
        encoding: 'base64',
      },
    ],
    type: ['{item:type}', 'notification'],
    deduplicate: ['{item:id}', '{body}'],
    note: 'Both formats are accepted: a list of CloudEvents, and the older object `eventNotifications`.',
  },
  xero: {
    name: 'Xero',
    docs: 'https://developer.xero.com/documentation/guides/webhooks/configuring-your-server/',
    checked: 'documentation',
    evidence: 'the page',
    secret: "the app's webhook signing key",
    split: 'events',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-xero-signature' },
        encoding: 'base64',
      },
    ],
    type: '{item:eventCategory}.{item:eventType}',
    deduplicate: '{item:resourceId}:{item:eventType}:{item:eventDateUtc}',
    answer: { status: 200 },
    emptyErrors: true,
    note: 'Xero first sends a wrong signature, and expects a 401. Answers have no body, errors included, and must have no cookies: keep hooks that set some away from the path.',
  },
} as const satisfies Record<string, Preset>
