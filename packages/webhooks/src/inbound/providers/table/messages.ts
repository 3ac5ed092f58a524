import type { Preset } from '../preset.ts'

/** Chat, telephony and mail. */
export const messages = {
  slack: {
    name: 'Slack',
    docs: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
    checked: 'vector',
    evidence: 'the example of the page; @slack/bolt',
    secret: "the app's signing secret",
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-slack-signature', prefix: 'v0=' },
        encoding: 'hex',
        signed: 'v0:{timestamp}:{body}',
        timestamp: { in: 'header:x-slack-request-timestamp', toleranceSeconds: 300 },
      },
    ],
    type: ['{json:event.type}', '{json:type}', '{form:payload#type}', '{form:command}'],
    deduplicate: '{json:event_id}',
    handshakes: [
      {
        method: 'POST',
        when: { 'json:type': 'url_verification' },
        answer: { text: '{json:challenge}' },
      },
    ],
  },
} as const satisfies Record<string, Preset>
