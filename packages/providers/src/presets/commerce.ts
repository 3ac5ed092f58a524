import type { Place, Preset } from '../preset.ts'
import { hmac, timedHmac } from './hmac.ts'

/** Apple Root CA - G3, until 2039 (https://www.apple.com/certificateauthority/). */
const APPLE_ROOT_G3 =
  'MIICQzCCAcmgAwIBAgIILcX8iNLFS5UwCgYIKoZIzj0EAwMwZzEbMBkGA1UEAwwSQXBwbGUgUm9vdCBDQSAtIEczMSYwJAYDVQQLDB1BcHBsZSBDZXJ0aWZpY2F0aW9uIEF1dGhvcml0eTETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwHhcNMTQwNDMwMTgxOTA2WhcNMzkwNDMwMTgxOTA2WjBnMRswGQYDVQQDDBJBcHBsZSBSb290IENBIC0gRzMxJjAkBgNVBAsMHUFwcGxlIENlcnRpZmljYXRpb24gQXV0aG9yaXR5MRMwEQYDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQGEwJVUzB2MBAGByqGSM49AgEGBSuBBAAiA2IABJjpLz1AcqTtkyJygRMc3RCV8cWjTnHcFBbZDuWmBSp3ZHtfTjjTuxxEtX/1H7YyYl3J6YRbTzBPEVoA/VhYDKX1DyxNB0cTddqXl5dvMVztK517IDvYuVTZXpmkOlEKMaNCMEAwHQYDVR0OBBYEFLuw3qFYM4iapIqZ3r6966/ayySrMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMAoGCCqGSM49BAMDA2gAMGUCMQCD6cHEFl4aXTQY2e3v9GwOAEZLuN+yRhHFD/3meoyhpmvOwgPUnPWTxnS4at+qIxUCMG1mihDK1A3UT82NQz60imOlM27jbdoXt2QfyFMm+YhidDkLF1vLUagM6BgD56KyKA=='

/** A notification has one of these, by what it is about. */
const claimsOf = (name: string): Place[] =>
  (['data', 'summary', 'externalPurchaseToken', 'appData'] as const).map(
    (part): Place => `claim:${part}.${name}`,
  )

/** Shops, subscriptions, billing and shipping. */
export const commerce = {
  shopify: {
    name: 'Shopify',
    docs: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
    checked: 'vector',
    checkedOn: '2026-11-27',
    evidence:
      'Shopify/shopify-app-js, packages/apps/shopify-api; of Events @shopify/shopify-api@15.0.0, and shopify.dev/docs/apps/build/events/verify-deliveries',
    secret: "the app's client secret",
    schemes: [hmac(['x-shopify-hmac-sha256', 'shopify-hmac-sha256'], { encoding: 'base64' })],
    type: [
      '{json:topic}.{json:action}',
      '{header:x-shopify-topic}',
      '{header:shopify-topic}.{header:shopify-action}',
      '{header:shopify-topic}',
    ],
    example: 'orders/create',
    id: ['{header:x-shopify-webhook-id}', '{header:shopify-webhook-id}'],
    deduplicate: '{type}:{body}',
    note: 'For webhooks and for Events, whose headers have no `X-`. Topics and ids in headers are not signed. A repeat is recognised by its topic and its body. The format must be JSON.',
  },
  woocommerce: {
    name: 'WooCommerce',
    docs: 'https://woocommerce.github.io/woocommerce-rest-api-docs/#webhooks',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: 'woocommerce/woocommerce-rest-api-docs, source/includes/v3/_webhooks.md',
    secret: 'the secret of the webhook',
    schemes: [hmac('x-wc-webhook-signature', { encoding: 'base64' })],
    type: '{header:x-wc-webhook-topic}',
    example: 'order.updated',
    id: '{header:x-wc-webhook-delivery-id}',
    deduplicate: '{type}:{body}',
    handshakes: [
      {
        method: 'POST',
        when: { 'form:webhook_id': true, 'header:x-wc-webhook-signature': false },
        signed: false,
        answer: { status: 200 },
      },
    ],
    note: 'The ping for a new webhook is an unsigned form. It is answered, and not published.',
  },
  paddle: {
    name: 'Paddle Billing',
    docs: 'https://developer.paddle.com/webhooks/signature-verification',
    checked: 'vector',
    checkedOn: '2026-11-22',
    evidence: 'PaddleHQ/paddle-node-sdk',
    secret: 'the secret key of the notification destination (pdl_ntfset_…)',
    schemes: [
      timedHmac('paddle-signature', ['ts', 'h1'], 5, {
        separator: ';',
        signed: '{timestamp}:{body}',
      }),
    ],
    type: '{json:event_type}',
    deduplicate: '{json:event_id}',
    note: "The tolerance is five seconds, as in Paddle's SDK. The host's clock must be right.",
  },
  lemonSqueezy: {
    name: 'Lemon Squeezy',
    docs: 'https://docs.lemonsqueezy.com/help/webhooks/signing-requests',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: 'the page',
    secret: 'the signing secret of the webhook',
    schemes: [hmac('x-signature')],
    type: '{json:meta.event_name}',
    deduplicate: '{body}',
    note: 'Events have no id. A repeat is recognised by its body, which is the same.',
  },
  chargebee: {
    name: 'Chargebee',
    docs: 'https://www.chargebee.com/docs/billing/2.0/site-configuration/webhook_settings',
    checked: 'sdk',
    checkedOn: '2026-11-22',
    evidence: 'chargebee/chargebee-node, src/resources/webhook/auth.ts',
    secret: 'the password that the webhook was given',
    needs: ['username'],
    schemes: [{ algorithm: 'basic' }],
    type: '{json:event_type}',
    deduplicate: '{json:id}',
    note: 'Requests have Basic credentials only. The body is not signed.',
  },
  revenuecat: {
    name: 'RevenueCat',
    docs: 'https://www.revenuecat.com/docs/integrations/webhooks',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: 'RevenueCat/revenuecat-docs, docs_source/Integrations & Events/webhooks.md',
    secret: 'the whole value of the Authorization header that the dashboard was given',
    schemes: [{ algorithm: 'token', in: 'header:authorization' }],
    type: '{json:event.type}',
    deduplicate: '{json:event.id}',
    note: 'The value itself is sent. The body is not signed.',
  },
  lago: {
    name: 'Lago',
    docs: 'https://docs.getlago.com/api-reference/webhooks/message-signature',
    checked: 'documentation',
    checkedOn: '2026-11-26',
    evidence: 'getlago/lago-docs, docs/api/90_webhooks/message-signature.mdx',
    secret: 'the public key of /api/v1/webhooks/public_key, decoded from base64 to PEM',
    schemes: [
      {
        algorithm: 'jwt',
        in: 'header:x-lago-signature',
        algorithms: ['RS256'],
        key: 'secret',
        issuer: 'https://api.getlago.com',
        timeless: true,
        binds: [{ in: 'claim:data' }],
      },
    ],
    type: '{json:webhook_type}',
    id: '{header:x-lago-unique-key}',
    deduplicate: '{body}',
    note: 'For a self-hosted Lago, override the issuer. The endpoint must sign with `jwt`.',
  },
  easypost: {
    name: 'EasyPost',
    docs: 'https://docs.easypost.com/guides/webhooks-guide',
    checked: 'sdk',
    checkedOn: '2026-11-22',
    evidence: 'EasyPost/easypost-node, src/utils/util.js',
    secret: 'the webhook secret',
    schemes: [hmac('x-hmac-signature', { prefix: 'hmac-sha256-hex=' })],
    type: '{json:description}',
    deduplicate: '{json:id}',
    note: 'EasyPost normalises the secret (Unicode NFKD). Use ASCII characters only.',
  },
  recurly: {
    name: 'Recurly',
    docs: 'https://docs.recurly.com/recurly-subscriptions/docs/signature-verification',
    checked: 'documentation',
    checkedOn: '2026-11-27',
    evidence: 'the page',
    secret: 'the secret key of the endpoint',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:recurly-signature', separator: ',' },
        encoding: 'hex',
        signed: '{timestamp}.{body}',
        timestamp: { in: 'element:0', unit: 'milliseconds', toleranceSeconds: 300 },
      },
    ],
    type: ['{json:object_type}.{json:event_type}', '{json:event_type}'],
    id: ['{header:recurly-notification-id}', '{json:id}'],
    deduplicate: '{body}',
    note: 'For JSON: notifications in XML are not signed.',
  },
  appStore: {
    name: 'Apple App Store Server Notifications',
    docs: 'https://developer.apple.com/documentation/appstoreservernotifications/app-store-server-notifications-v2',
    checked: 'vector',
    checkedOn: '2026-11-27',
    evidence:
      'apple/app-store-server-library-node, tests/resources; @apple/app-store-server-library@3.1.0',
    secret: null,
    needs: ['bundleId'],
    mayNeed: ['appAppleId', 'rootCertificates'],
    publishes: 'claims',
    schemes: [
      {
        algorithm: 'jwt',
        in: 'json:signedPayload',
        algorithms: ['ES256'],
        key: {
          x5c: {
            roots: [APPLE_ROOT_G3],
            // Marks of what may sign receipts, and of what may issue such a certificate.
            extensions: ['1.2.840.113635.100.6.11.1', '1.2.840.113635.100.6.2.1'],
          },
        },
        time: { in: 'claim:signedDate', unit: 'milliseconds' },
        timeless: true,
        binds: [
          { in: claimsOf('bundleId'), of: '{option:bundleId}' },
          { in: claimsOf('appAppleId'), of: '{option:appAppleId}', ifGiven: true },
        ],
      },
    ],
    type: ['{claim:notificationType}.{claim:subtype}', '{claim:notificationType}'],
    deduplicate: '{claim:notificationUUID}',
    // Apple repeats a notification for six and a half days.
    remembersSeconds: 604_800,
    note: 'For version 2. The notification in the field `signedPayload` is published. With the option `appAppleId` those of the sandbox are refused, as they do not have it; without it look at `environment`. Certificates are judged at the time when the notification was signed. The age of a notification is checked only if `toleranceSeconds` is given.',
  },
} as const satisfies Record<string, Preset>
