import type { Preset } from '../preset.ts'

/** Mail: deliveries, opens, bounces. */
export const mail = {
  sendgrid: {
    name: 'SendGrid events',
    docs: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features',
    checked: 'vector',
    evidence: 'sendgrid/sendgrid-nodejs, packages/eventwebhook',
    secret: 'the verification key of the event webhook (base64)',
    split: '',
    schemes: [
      {
        algorithm: 'ecdsa-sha256',
        signature: { in: 'header:x-twilio-email-event-webhook-signature' },
        encoding: 'base64',
        key: { encoding: 'base64', form: 'spki' },
        signed: '{timestamp}{body}',
        timestamp: { in: 'header:x-twilio-email-event-webhook-timestamp' },
      },
    ],
    type: '{item:event}',
    deduplicate: '{item:sg_event_id}',
    note: 'The body ends with CRLF, which is part of the signed text.',
  },
  mailgun: {
    name: 'Mailgun',
    docs: 'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks',
    checked: 'documentation',
    evidence: 'the page',
    secret: "the account's HTTP webhook signing key",
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'json:signature.signature' },
        encoding: 'hex',
        signed: '{timestamp}{json:signature.token}',
        timestamp: { in: 'json:signature.timestamp', toleranceSeconds: 43_200 },
      },
    ],
    type: '{json:event-data.event}',
    deduplicate: '{json:signature.token}',
    note: 'Only the time and a token are signed, not the event. Each token is accepted once, for half a day, which is longer than Mailgun retries.',
  },
  mailersend: {
    name: 'MailerSend',
    docs: 'https://developers.mailersend.com/api/v1/webhooks.html',
    checked: 'vector',
    evidence: 'mailersend/mailersend-nodejs, src/__tests__/services/mailersend.utils.test.ts',
    secret: 'the signing secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: ['header:signature', 'header:x-mailersend-signature'] },
        encoding: 'hex',
      },
    ],
    type: '{json:type}',
    deduplicate: '{body}',
    note: 'A repeat is recognised by its body, which is the same.',
  },
  postmark: {
    name: 'Postmark',
    docs: 'https://postmarkapp.com/developer/webhooks/webhooks-overview',
    checked: 'documentation',
    evidence: 'ActiveCampaign/postmark-skills, postmark-webhooks/references/security.md',
    secret: "the password in the webhook's URL",
    needs: ['username'],
    schemes: [{ algorithm: 'basic' }],
    type: ['{json:RecordType}', 'Inbound'],
    deduplicate: '{header:x-pm-webhook-trace-id}',
    note: 'Requests have Basic credentials only. The body is not signed.',
  },
  mandrill: {
    name: 'Mailchimp Transactional (Mandrill)',
    docs: 'https://mailchimp.com/developer/transactional/guides/track-respond-activity-webhooks/',
    checked: 'documentation',
    evidence: 'the article on authenticating webhook requests, mandrill.zendesk.com',
    secret: 'the key of the webhook',
    needs: ['publicOrigin'],
    schemes: [
      {
        algorithm: 'hmac-sha1',
        signature: { in: 'header:x-mandrill-signature' },
        encoding: 'base64',
        signed: '{url}{params}',
      },
    ],
    type: '{form:mandrill_events#0.event}',
    deduplicate: '{body}',
    handshakes: [{ method: 'HEAD', answer: { status: 200 } }],
    note: 'The URL is signed exactly as it was registered. One form field has the list of events.',
  },
} as const satisfies Record<string, Preset>
