import type { Preset } from '../preset.ts'

/** Code hosting, builds and operations. */
export const code = {
  github: {
    name: 'GitHub',
    docs: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
    checked: 'vector',
    evidence: '@octokit/webhooks-methods, and the example of the page',
    secret: 'the secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-hub-signature-256', prefix: 'sha256=' },
        encoding: 'hex',
      },
    ],
    type: '{header:x-github-event}',
    deduplicate: '{header:x-github-delivery}',
    note: 'A redelivery has the id of the first delivery.',
  },
} as const satisfies Record<string, Preset>
