import type { Preset } from '../preset.ts'

/** Payments, billing and shops. */
export const commerce = {
  stripe: {
    name: 'Stripe',
    docs: 'https://docs.stripe.com/webhooks/signature',
    checked: 'vector',
    evidence: 'stripe@23.1.0',
    secret: 'the signing secret of the endpoint, whole (whsec_…)',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:stripe-signature', separator: ',', field: 'v1' },
        encoding: 'hex',
        signed: '{timestamp}.{body}',
        timestamp: { in: 'field:t', toleranceSeconds: 300 },
      },
    ],
    type: '{json:type}',
    deduplicate: '{json:id}',
  },
  shopify: {
    name: 'Shopify',
    docs: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
    checked: 'vector',
    evidence: 'Shopify/shopify-app-js, packages/apps/shopify-api',
    secret: "the app's client secret",
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-shopify-hmac-sha256' },
        encoding: 'base64',
      },
    ],
    type: '{header:x-shopify-topic}',
    deduplicate: '{header:x-shopify-webhook-id}',
  },
} as const satisfies Record<string, Preset>
