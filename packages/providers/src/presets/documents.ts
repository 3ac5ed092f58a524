import type { Preset } from '../preset.ts'
import { hmac } from './hmac.ts'

/** Files, forms, signatures on paper, designs. */
export const documents = {
  box: {
    name: 'Box',
    docs: 'https://developer.box.com/guides/webhooks/v2/signatures-v2/',
    checked: 'vector',
    checkedOn: '2026-11-22',
    evidence: 'box/box-node-sdk',
    secret: "the app's primary and secondary signature keys, as a list",
    schemes: [
      {
        algorithm: 'hmac-sha256',
        when: {
          'header:box-signature-version': '1',
          'header:box-signature-algorithm': 'HmacSHA256',
        },
        signature: { in: ['header:box-signature-primary', 'header:box-signature-secondary'] },
        encoding: 'base64',
        signed: '{body}{timestamp}',
        timestamp: { in: 'header:box-delivery-timestamp', unit: 'rfc3339', toleranceSeconds: 600 },
      },
    ],
    type: '{json:trigger}',
    id: '{header:box-delivery-id}',
    deduplicate: '{body}',
    note: 'A repeat is recognised by its body, which has the id of the event.',
  },
  dropbox: {
    name: 'Dropbox',
    docs: 'https://www.dropbox.com/developers/reference/webhooks',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: 'the page',
    secret: "the app's secret",
    schemes: [hmac('x-dropbox-signature')],
    type: 'changed',
    handshakes: [
      {
        method: 'GET',
        when: { 'query:challenge': true },
        answer: {
          headers: { 'x-content-type-options': 'nosniff' },
          text: '{query:challenge}',
        },
      },
    ],
    note: 'A request names accounts that have changes. Equal requests are not repeats.',
  },
  docusign: {
    name: 'DocuSign Connect',
    docs: 'https://developers.docusign.com/platform/webhooks/connect/validate/',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: "the page; the provider's article on authenticating by hand",
    secret: 'a Connect key of the account, as it is shown; several as a list',
    schemes: [
      hmac(
        [
          'x-docusign-signature-1',
          'x-docusign-signature-2',
          'x-docusign-signature-3',
          'x-docusign-signature-4',
          'x-docusign-signature-5',
        ],
        { encoding: 'base64' },
      ),
    ],
    type: '{json:event}',
    deduplicate: '{json:event}:{json:data.envelopeId}:{json:generatedDateTime}',
    note: 'A request has one signature header for each key of the account, of which five are read. The key is not decoded.',
  },
  typeform: {
    name: 'Typeform',
    docs: 'https://www.typeform.com/developers/webhooks/secure-your-webhooks/',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: 'the page',
    secret: 'the secret of the webhook',
    schemes: [hmac('typeform-signature', { prefix: 'sha256=', encoding: 'base64' })],
    type: '{json:event_type}',
    deduplicate: '{json:event_id}',
  },
  figma: {
    name: 'Figma',
    docs: 'https://developers.figma.com/docs/rest-api/webhooks/',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: 'figma/rest-api-spec, openapi/openapi.yaml',
    secret: 'the passcode of the webhook',
    schemes: [{ algorithm: 'token', in: 'json:passcode' }],
    type: '{json:event_type}',
    note: 'The passcode is part of the body, and is `***` in the published payload. The body is not signed.',
  },
  microsoftGraph: {
    name: 'Microsoft Graph',
    docs: 'https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: 'the page',
    secret: 'the clientState of the subscriptions',
    split: 'value',
    schemes: [{ algorithm: 'token', in: 'item:clientState', eachItem: true }],
    type: ['{item:lifecycleEvent}', '{item:changeType}'],
    deduplicate: '{item:id}',
    handshakes: [
      {
        method: 'POST',
        when: { 'query:validationToken': true },
        signed: false,
        answer: { text: '{query:validationToken}' },
      },
    ],
    answer: { status: 202 },
    note: '`clientState` is sent as it is, and the body is not signed. It is `***` in the published payload. Tokens of rich notifications are not checked.',
  },
} as const satisfies Record<string, Preset>
