import type { Preset } from '../preset.ts'

/** Payments: cards, wallets and the networks of single countries. */
export const payments = {
  stripe: {
    name: 'Stripe',
    docs: 'https://docs.stripe.com/webhooks/signature',
    checked: 'sdk',
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
  paypal: {
    name: 'PayPal',
    docs: 'https://developer.paypal.com/api/rest/webhooks/rest/',
    checked: 'vector',
    evidence: 'paypal/PayPal-Java-SDK',
    secret: null,
    needs: ['webhookId'],
    schemes: [
      {
        algorithm: 'rsa-sha256',
        when: { 'header:paypal-auth-algo': 'SHA256withRSA' },
        signature: { in: 'header:paypal-transmission-sig' },
        encoding: 'base64',
        key: {
          certificate: {
            url: '{header:paypal-cert-url}',
            hosts: ['api.paypal.com', 'api-m.paypal.com', '*.sandbox.paypal.com'],
            names: [
              'messageverificationcerts.paypal.com',
              'messageverificationcerts.sandbox.paypal.com',
            ],
            issuers: ['cacerts.digicert.com'],
          },
        },
        signed: '{header:paypal-transmission-id}|{timestamp}|{option:webhookId}|{crc32}',
        timestamp: { in: 'header:paypal-transmission-time', unit: 'rfc3339' },
      },
    ],
    type: '{json:event_type}',
    deduplicate: '{json:id}',
    note: 'Of the body only its CRC-32 is signed. Fetch important data from the API.',
  },
  square: {
    name: 'Square',
    docs: 'https://developer.squareup.com/docs/webhooks/step3validate',
    checked: 'vector',
    evidence: 'square/square-nodejs-sdk',
    secret: 'the signature key of the subscription',
    needs: ['publicOrigin'],
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-square-hmacsha256-signature' },
        encoding: 'base64',
        signed: '{url}{body}',
      },
    ],
    type: '{json:type}',
    deduplicate: '{json:event_id}',
    note: 'The URL is signed exactly as it was registered.',
  },
  adyen: {
    name: 'Adyen payments',
    docs: 'https://docs.adyen.com/development-resources/webhooks/verify-hmac-signatures/',
    checked: 'vector',
    evidence: 'Adyen/adyen-node-api-library, src/__tests__/hmacValidator.spec.ts',
    secret: 'the HMAC key of the webhook (hexadecimal)',
    split: 'notificationItems',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        eachItem: true,
        signature: { in: 'item:NotificationRequestItem.additionalData.hmacSignature' },
        encoding: 'base64',
        key: { encoding: 'hex' },
        signed:
          '{item:NotificationRequestItem.pspReference|}:' +
          '{item:NotificationRequestItem.originalReference|}:' +
          '{item:NotificationRequestItem.merchantAccountCode|}:' +
          '{item:NotificationRequestItem.merchantReference|}:' +
          '{item:NotificationRequestItem.amount.value|}:' +
          '{item:NotificationRequestItem.amount.currency|}:' +
          '{item:NotificationRequestItem.eventCode|}:' +
          '{item:NotificationRequestItem.success|}',
      },
    ],
    type: '{item:NotificationRequestItem.eventCode}',
    deduplicate:
      '{item:NotificationRequestItem.eventCode}:{item:NotificationRequestItem.pspReference}:' +
      '{item:NotificationRequestItem.success|}',
    answer: { text: '[accepted]' },
    note: 'Only eight fields of each item are signed.',
  },
  adyenPlatforms: {
    name: 'Adyen for platforms and issuing',
    docs: 'https://docs.adyen.com/development-resources/webhooks/verify-hmac-signatures/',
    checked: 'vector',
    evidence: 'Adyen/adyen-node-api-library, src/__tests__/hmacValidator.spec.ts',
    secret: 'the HMAC key of the webhook (hexadecimal)',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:hmacsignature' },
        encoding: 'base64',
        key: { encoding: 'hex' },
      },
    ],
    type: '{json:type}',
    deduplicate: '{body}',
    note: 'Events have no id. A repeat is recognised by its body, which is the same.',
  },
  razorpay: {
    name: 'Razorpay',
    docs: 'https://razorpay.com/docs/webhooks/validate-test/',
    checked: 'vector',
    evidence: 'razorpay/razorpay-node',
    secret: 'the secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-razorpay-signature' },
        encoding: 'hex',
      },
    ],
    type: '{json:event}',
    deduplicate: '{header:x-razorpay-event-id}',
  },
  cashfree: {
    name: 'Cashfree',
    docs: 'https://www.cashfree.com/docs/payments/online/webhooks/signature-verification',
    checked: 'sdk',
    evidence: 'cashfree/cashfree-pg-sdk-nodejs, api.ts (PGVerifyWebhookSignature)',
    secret: "the app's client secret",
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-webhook-signature' },
        encoding: 'base64',
        signed: '{timestamp}{body}',
        timestamp: { in: 'header:x-webhook-timestamp' },
      },
    ],
    type: '{json:type}',
  },
  paystack: {
    name: 'Paystack',
    docs: 'https://paystack.com/docs/payments/webhooks/',
    checked: 'documentation',
    evidence: 'PaystackOSS/doc-code-snippets, payments/webhooks/verifying-transaction',
    secret: 'the secret key of the account (sk_…)',
    schemes: [
      {
        algorithm: 'hmac-sha512',
        signature: { in: 'header:x-paystack-signature' },
        encoding: 'hex',
      },
    ],
    type: '{json:event}',
    deduplicate: '{body}',
    note: 'Events have no id. A repeat is recognised by its body, which is the same.',
  },
  mercadoPago: {
    name: 'Mercado Pago',
    docs: 'https://www.mercadopago.com/developers/en/docs/your-integrations/notifications/webhooks',
    checked: 'sdk',
    evidence: 'mercadopago/sdk-nodejs, src/utils/webhook/index.ts',
    secret: 'the secret signature of the application',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-signature', separator: ',', field: 'v1' },
        encoding: 'hex',
        signed: '[id:{query:data.id};][request-id:{header:x-request-id};]ts:{timestamp};',
        timestamp: { in: 'field:ts' },
      },
    ],
    type: ['{json:action}', '{json:type}'],
    deduplicate: '{json:id}',
    note: 'The id in the query is signed, the body is not. Fetch the data from the API. QR code events are unsigned.',
  },
  coinbaseCommerce: {
    name: 'Coinbase Commerce',
    docs: 'https://docs.cdp.coinbase.com/commerce/api-arcitecture/webhooks-security',
    checked: 'vector',
    evidence: 'coinbase/coinbase-commerce-node',
    secret: 'the shared secret of the webhook subscription',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-cc-webhook-signature' },
        encoding: 'hex',
      },
    ],
    type: '{json:event.type}',
    deduplicate: '{json:event.id}',
  },
  checkoutCom: {
    name: 'Checkout.com',
    docs: 'https://www.checkout.com/docs/workflows',
    checked: 'documentation',
    evidence: 'the page',
    secret: "the signature key of the workflow's webhook action",
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:cko-signature' },
        encoding: 'hex',
      },
    ],
    type: '{json:type}',
    deduplicate: '{json:id}',
  },
  mollie: {
    name: 'Mollie',
    docs: 'https://docs.mollie.com/reference/webhooks-best-practices',
    checked: 'sdk',
    evidence: 'mollie/mollie-api-typescript, README.md (SignatureValidator)',
    secret: 'the signing secret of the webhook subscription',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-mollie-signature', prefix: 'sha256=' },
        encoding: 'hex',
      },
    ],
    type: '{json:type}',
    deduplicate: '{json:id}',
    note: 'For next-generation webhooks. Classic ones, a form with an id, are unsigned.',
  },
} as const satisfies Record<string, Preset>
