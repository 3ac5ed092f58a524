import type { Preset } from '../preset.ts'
import { standardWebhooks } from './standard-webhooks.ts'

/** Language models, speech, and what runs them. */
export const models = {
  openai: {
    name: 'OpenAI',
    docs: 'https://platform.openai.com/docs/guides/webhooks',
    checked: 'vector',
    evidence: 'openai/openai-node, tests/api-resources/webhooks.test.ts',
    secret: 'the signing secret of the endpoint (whsec_…)',
    schemes: [standardWebhooks],
    type: '{json:type}',
    deduplicate: '{header:webhook-id}',
  },
  anthropic: {
    name: 'Anthropic',
    docs: 'https://platform.claude.com/docs/en/managed-agents/webhooks',
    checked: 'sdk',
    evidence: 'anthropics/anthropic-sdk-typescript, src/resources/beta/webhooks.ts',
    secret: 'the signing secret of the endpoint (whsec_…)',
    schemes: [standardWebhooks],
    type: '{json:data.type}',
    deduplicate: '{header:webhook-id}',
  },
  replicate: {
    name: 'Replicate',
    docs: 'https://replicate.com/docs/topics/webhooks/verify-webhook',
    checked: 'vector',
    evidence: 'replicate/replicate-javascript, index.test.ts',
    secret: "the account's default signing secret (whsec_…)",
    schemes: [standardWebhooks],
    type: 'prediction.{json:status}',
    deduplicate: '{header:webhook-id}',
    note: 'The body is the prediction. The type is made from its status: `prediction.succeeded`.',
  },
  elevenlabs: {
    name: 'ElevenLabs',
    docs: 'https://elevenlabs.io/docs/eleven-agents/workflows/post-call-webhooks',
    checked: 'sdk',
    evidence: 'elevenlabs/elevenlabs-js, src/wrapper/webhooks.ts',
    secret: 'the shared secret of the webhook, whole (wsec_…)',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:elevenlabs-signature', separator: ',', field: 'v0' },
        encoding: 'hex',
        signed: '{timestamp}.{body}',
        timestamp: { in: 'field:t', toleranceSeconds: 1800 },
      },
    ],
    type: '{json:type}',
    deduplicate: '{json:type}:{json:data.conversation_id}',
  },
  retell: {
    name: 'Retell AI',
    docs: 'https://docs.retellai.com/features/secure-webhook',
    checked: 'vector',
    evidence: 'RetellAI/retell-typescript-sdk, tests/webhook-auth.test.ts',
    secret: 'the API key that has the webhook badge',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-retell-signature', separator: ',', field: 'd' },
        encoding: 'hex',
        signed: '{body}{timestamp}',
        timestamp: { in: 'field:v', unit: 'milliseconds', toleranceSeconds: 300 },
      },
    ],
    type: '{json:event}',
    deduplicate: '{body}',
    note: 'The signed text is the body, followed by the time in milliseconds.',
  },
  huggingFace: {
    name: 'Hugging Face',
    docs: 'https://huggingface.co/docs/hub/webhooks',
    checked: 'documentation',
    evidence: 'huggingface/hub-docs, docs/hub/webhooks.md',
    secret: 'the secret of the webhook, in ASCII',
    schemes: [{ algorithm: 'token', in: 'header:x-webhook-secret' }],
    type: '{json:event.scope}.{json:event.action}',
    note: 'The secret itself is sent. The body is not signed.',
  },
} as const satisfies Record<string, Preset>
