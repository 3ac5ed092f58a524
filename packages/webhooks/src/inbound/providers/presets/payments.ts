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
            at: [
              'https://api.paypal.com/v1/notifications/certs/*',
              'https://api-m.paypal.com/v1/notifications/certs/*',
              'https://api.sandbox.paypal.com/v1/notifications/certs/*',
              // Its published vector is from here.
              'https://api.sandbox.paypal.com/v1/notifications/test',
              'https://api-m.sandbox.paypal.com/v1/notifications/certs/*',
            ],
            names: [
              'messageverificationcerts.paypal.com',
              'messageverificationcerts.sandbox.paypal.com',
            ],
            issuers: ['https://cacerts.digicert.com/*.crt.pem'],
          },
        },
        signed: '{header:paypal-transmission-id}|{timestamp}|{option:webhookId}|{crc32}',
        timestamp: {
          in: 'header:paypal-transmission-time',
          unit: 'rfc3339',
          toleranceSeconds: 259_200,
        },
      },
    ],
    type: '{json:event_type}',
    deduplicate: '{header:paypal-transmission-id}',
    note: 'Of the body only its CRC-32 is signed, which others can imitate. Fetch important data from the API. PayPal retries for three days.',
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
        open: 'item:NotificationRequestItem.merchantReference',
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
    note: 'Only eight fields of each item are signed. Of these only the reference of the merchant may hold a colon.',
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
    deduplicate: '{body}',
    note: 'The id of an event is in a header that is not signed. A repeat is recognised by its body, which is the same.',
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
        timestamp: {
          in: 'header:x-webhook-timestamp',
          unit: 'milliseconds',
          toleranceSeconds: 3600,
        },
      },
    ],
    type: '{json:type}',
    deduplicate: '{body}',
    note: 'Cashfree retries within half an hour. Events have no id. A repeat is recognised by its body, which is the same.',
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
        timestamp: { in: 'field:ts', unit: 'either', toleranceSeconds: 300 },
        binds: [{ in: 'json:data.id', of: '{query:data.id}', orAbsent: true }],
      },
    ],
    type: ['{json:action}', '{json:type}'],
    deduplicate: '{query:data.id|}:{header:x-request-id|}:{field:ts}',
    note: 'The id in the query is signed, and `data.id` must be the same. The rest of the body is not signed: fetch the data from the API. QR code events are unsigned.',
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
