import type { Preset } from '../preset.ts'
import { standardWebhooks } from './standard-webhooks.ts'

/** Sign-in, directories and the proof of identity. */
export const identity = {
  workos: {
    name: 'WorkOS',
    docs: 'https://workos.com/docs/events/data-syncing/webhooks',
    checked: 'sdk',
    evidence: '@workos-inc/node',
    secret: 'the secret of the webhook endpoint',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:workos-signature', separator: ',', field: 'v1' },
        encoding: 'hex',
        signed: '{timestamp}.{body}',
        timestamp: { in: 'field:t', unit: 'milliseconds', toleranceSeconds: 180 },
      },
    ],
    type: '{json:event}',
    deduplicate: '{json:id}',
  },
  okta: {
    name: 'Okta event hooks',
    docs: 'https://developer.okta.com/docs/concepts/event-hooks/',
    checked: 'documentation',
    evidence: 'okta/okta-developer-docs, docs/concepts/event-hooks',
    secret: 'the value of the Authorization header that the hook was given',
    split: 'data.events',
    schemes: [{ algorithm: 'token', in: 'header:authorization' }],
    type: '{item:eventType}',
    deduplicate: '{item:uuid}',
    handshakes: [
      {
        method: 'GET',
        when: { 'header:x-okta-verification-challenge': true },
        answer: { json: { verification: '{header:x-okta-verification-challenge}' } },
      },
    ],
    note: 'The value itself is sent. The body is not signed.',
  },
  supabaseAuth: {
    name: 'Supabase Auth hooks',
    docs: 'https://supabase.com/docs/guides/auth/auth-hooks',
    checked: 'documentation',
    evidence: 'supabase/supabase, apps/docs/content/guides/auth/auth-hooks.mdx',
    secret: 'the secret of the hook, whole (v1,whsec_…)',
    schemes: [{ ...standardWebhooks, key: { strip: ['v1,', 'whsec_'], encoding: 'base64' } }],
    type: ['{json:metadata.name}', '{key:sms,email_data,claims,factor_id,valid}'],
    deduplicate: '{header:webhook-id}',
    answer: { json: {} },
    note: 'The type is the name of the field that only this hook has: `sms`, `email_data`, `claims`, `factor_id`, `valid`. Bodies have codes for signing in. A hook that must decide or return claims needs an answer of its own.',
  },
  logto: {
    name: 'Logto',
    docs: 'https://docs.logto.io/developers/webhooks/secure-webhooks',
    checked: 'documentation',
    evidence: 'the page',
    secret: 'the signing key of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:logto-signature-sha-256' },
        encoding: 'hex',
      },
    ],
    type: '{json:event}',
    deduplicate: '{body}',
    note: 'Events have no id. A repeat is recognised by its body, which is the same.',
  },
  onfido: {
    name: 'Onfido',
    docs: 'https://documentation.onfido.com/api/latest/#webhooks',
    checked: 'vector',
    evidence: 'onfido/onfido-node, test/classic-webhook-event-verifier.test.ts',
    secret: 'the token of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-sha2-signature' },
        encoding: 'hex',
      },
    ],
    type: '{json:payload.action}',
    deduplicate: '{body}',
    note: 'Events have no id. A repeat is recognised by its body, which is the same.',
  },
  persona: {
    name: 'Persona',
    docs: 'https://docs.withpersona.com/docs/webhooks-best-practices',
    checked: 'documentation',
    evidence: 'the page',
    secret: 'the secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:persona-signature', separator: [',', ' '], field: 'v1' },
        encoding: 'hex',
        signed: '{timestamp}.{body}',
        timestamp: { in: 'field:t', toleranceSeconds: 300 },
      },
    ],
    type: '{json:data.attributes.name}',
    deduplicate: '{json:data.id}',
  },
} as const satisfies Record<string, Preset>
