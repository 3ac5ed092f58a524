import type { Preset } from '../preset.ts'

/** Builds, releases and operations. */
export const builds = {
  circleci: {
    name: 'CircleCI',
    docs: 'https://circleci.com/docs/guides/integration/outbound-webhooks/',
    checked: 'vector',
    evidence: 'circleci/circleci-docs, the examples of the page',
    secret: 'the secret token of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:circleci-signature', separator: ',', prefix: 'v1=' },
        encoding: 'hex',
      },
    ],
    type: '{json:type}',
    deduplicate: '{json:id}',
  },
  buildkite: {
    name: 'Buildkite',
    docs: 'https://buildkite.com/docs/apis/webhooks/pipelines',
    checked: 'documentation',
    evidence: 'buildkite/docs, pages/apis/webhooks',
    secret: 'the token of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-buildkite-signature', separator: ',', field: 'signature' },
        encoding: 'hex',
        signed: '{timestamp}.{body}',
        timestamp: { in: 'field:timestamp', toleranceSeconds: 300 },
      },
      { algorithm: 'token', in: 'header:x-buildkite-token' },
    ],
    type: ['{json:event}', '{header:x-buildkite-event}'],
    deduplicate: '{body}',
    note: 'Set the notification service to send a signature. A request with the plain token does not protect the body.',
  },
  supabase: {
    name: 'Supabase database webhooks',
    docs: 'https://supabase.com/docs/guides/database/webhooks',
    checked: 'documentation',
    evidence: 'supabase/supabase, apps/docs/content/guides/database/webhooks.mdx',
    secret: 'the token in the header Authorization that the webhook was given, without `Bearer`',
    schemes: [{ algorithm: 'token', in: 'header:authorization', prefix: 'Bearer ' }],
    type: '{json:type}',
    note: 'Requests are not signed. Give the webhook the HTTP header `Authorization: Bearer …` with a long random token. The type is INSERT, UPDATE or DELETE.',
  },
  travisCi: {
    name: 'Travis CI',
    docs: 'https://docs.travis-ci.com/user/notifications/#verifying-webhook-requests',
    checked: 'documentation',
    evidence: 'travis-ci/docs-travis-ci-com, user/notifications.md.erb',
    secret: 'the public key (PEM) that https://api.travis-ci.com/config shows',
    reads: 'form',
    unwrap: 'payload',
    schemes: [
      {
        algorithm: 'rsa-sha1',
        signature: { in: 'header:signature' },
        encoding: 'base64',
        signed: '{form:payload}',
      },
    ],
    type: '{form:payload#state}',
    deduplicate: '{form:payload}',
    note: 'The body is a form, of which the field `payload` is signed. Its JSON is published, other fields are left out. The type is the state of the build.',
  },
  expo: {
    name: 'Expo EAS',
    docs: 'https://docs.expo.dev/eas/webhooks/',
    checked: 'documentation',
    evidence: 'expo/expo, docs/pages/eas/webhooks.mdx',
    secret: 'the secret of the webhook, of at least 16 characters',
    schemes: [
      {
        algorithm: 'hmac-sha1',
        signature: { in: 'header:expo-signature', prefix: 'sha1=' },
        encoding: 'hex',
      },
    ],
    type: '{json:status}',
    deduplicate: '{json:id}:{json:status}',
    note: 'Requests have no type. The status of the build or submission is used.',
  },
  pagerduty: {
    name: 'PagerDuty',
    docs: 'https://developer.pagerduty.com/docs/webhooks/webhook-signatures/',
    checked: 'vector',
    evidence: 'PagerDuty/go-pagerduty; PagerDuty/developer-docs, docs/webhooks',
    secret: 'the secret of the webhook subscription',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-pagerduty-signature', separator: ',', prefix: 'v1=' },
        encoding: 'hex',
      },
    ],
    type: '{json:event.event_type}',
    deduplicate: '{json:event.id}',
  },
  sentry: {
    name: 'Sentry',
    docs: 'https://docs.sentry.io/product/integrations/integration-platform/webhooks/',
    checked: 'documentation',
    evidence: 'the page',
    secret: 'the client secret of the integration',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:sentry-hook-signature' },
        encoding: 'hex',
      },
    ],
    type: ['{header:sentry-hook-resource}.{json:action}', '{header:sentry-hook-resource}'],
    deduplicate: '{type}:{body}',
    note: "The example in Sentry's documentation signs re-encoded JSON. Sentry signs the bytes that it sends.",
  },
  launchdarkly: {
    name: 'LaunchDarkly',
    docs: 'https://launchdarkly.com/docs/home/infrastructure/webhooks',
    checked: 'documentation',
    evidence: 'the page',
    secret: 'the secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-ld-signature' },
        encoding: 'hex',
      },
    ],
    type: ['{json:kind}.{json:accesses.0.action}', '{json:kind}'],
    deduplicate: '{json:_id}',
    note: 'Requests of a webhook without a secret are unsigned, and are refused.',
  },
} as const satisfies Record<string, Preset>
