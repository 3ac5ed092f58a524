import type { Preset } from '../preset.ts'

/** Issues, tasks, notes and calendars. */
export const work = {
  linear: {
    name: 'Linear',
    docs: 'https://linear.app/developers/webhooks',
    checked: 'sdk',
    evidence: '@linear/sdk; linear/linear, packages/sdk/src/webhooks/client.ts',
    secret: 'the signing secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:linear-signature' },
        encoding: 'hex',
        timestamp: { in: 'json:webhookTimestamp', unit: 'milliseconds', toleranceSeconds: 60 },
      },
    ],
    type: ['{json:type}.{json:action}', '{json:type}'],
    deduplicate: '{header:linear-delivery}',
  },
  jira: {
    name: 'Jira Cloud',
    docs: 'https://developer.atlassian.com/cloud/jira/platform/webhooks/',
    checked: 'documentation',
    evidence: 'the page, with the example that Bitbucket has too',
    secret: 'the secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-hub-signature', prefix: 'sha256=' },
        encoding: 'hex',
      },
    ],
    type: '{json:webhookEvent}',
    deduplicate: '{header:x-atlassian-webhook-identifier}',
    note: 'Requests of a webhook without a secret are unsigned, and are refused.',
  },
  asana: {
    name: 'Asana',
    docs: 'https://developers.asana.com/docs/webhooks-guide',
    checked: 'documentation',
    evidence: 'the page',
    secret: 'the X-Hook-Secret of the handshake, which the host keeps',
    split: 'events',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-hook-signature' },
        encoding: 'hex',
      },
    ],
    type: '{item:resource.resource_type}.{item:action}',
    handshakes: [
      {
        method: 'POST',
        when: { 'header:x-hook-secret': true },
        signed: false,
        store: 'header:x-hook-secret',
        answer: { headers: { 'x-hook-secret': '{header:x-hook-secret}' } },
      },
    ],
    note: 'Asana sends the secret in an unsigned POST, before it answers the call that creates the webhook.',
  },
  trello: {
    name: 'Trello',
    docs: 'https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/',
    checked: 'documentation',
    evidence: 'the page',
    secret: "the app's secret",
    needs: ['publicOrigin'],
    schemes: [
      {
        algorithm: 'hmac-sha1',
        signature: { in: 'header:x-trello-webhook' },
        encoding: 'base64',
        signed: '{body}{url}',
      },
    ],
    type: '{json:action.type}',
    deduplicate: '{json:action.id}',
    handshakes: [{ method: 'HEAD', answer: { status: 200 } }],
    note: 'The URL is signed exactly as it was registered.',
  },
  clickup: {
    name: 'ClickUp',
    docs: 'https://developer.clickup.com/docs/webhooksignature',
    checked: 'documentation',
    evidence: 'the page',
    secret: 'the secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-signature' },
        encoding: 'hex',
      },
    ],
    type: '{json:event}',
    deduplicate: '{json:webhook_id}:{json:history_items.0.id}',
  },
  notion: {
    name: 'Notion',
    docs: 'https://developers.notion.com/reference/webhooks',
    checked: 'sdk',
    evidence: '@notionhq/client',
    secret: 'the verification token of the handshake, which the host keeps',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-notion-signature', prefix: 'sha256=' },
        encoding: 'hex',
      },
    ],
    type: '{json:type}',
    deduplicate: '{json:id}',
    handshakes: [
      {
        method: 'POST',
        when: { 'json:verification_token': true, 'json:type': false },
        signed: false,
        store: 'json:verification_token',
        answer: { status: 200 },
      },
    ],
    note: "Notion sends the token once, in an unsigned POST. It must also be pasted into Notion's settings.",
  },
  airtable: {
    name: 'Airtable',
    docs: 'https://airtable.com/developers/web/api/webhooks-overview',
    checked: 'documentation',
    evidence: 'the page',
    secret: 'macSecretBase64 of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-airtable-content-mac', prefix: 'hmac-sha256=' },
        encoding: 'hex',
        key: { encoding: 'base64' },
      },
    ],
    type: 'ping',
    answer: { status: 204 },
    note: 'A request only says that there are changes. Fetch them from the API.',
  },
  calCom: {
    name: 'Cal.com',
    docs: 'https://cal.com/docs/developing/guides/automation/webhooks',
    checked: 'documentation',
    evidence: 'calcom/docs, pages/core-features/webhooks.mdoc',
    secret: 'the secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-cal-signature-256' },
        encoding: 'hex',
      },
    ],
    type: '{json:triggerEvent}',
    deduplicate: '{body}',
    note: 'Events have no id. A repeat is recognised by its body, which is the same.',
  },
  calendly: {
    name: 'Calendly',
    docs: 'https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures',
    checked: 'documentation',
    evidence: 'the page; answer of the provider at community.calendly.com',
    secret: 'the signing key of the webhook subscription',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:calendly-webhook-signature', separator: ',', field: 'v1' },
        encoding: 'hex',
        signed: '{timestamp}.{body}',
        timestamp: { in: 'field:t', toleranceSeconds: 180 },
      },
    ],
    type: '{json:event}',
    deduplicate: '{json:event}:{json:payload.uri}:{json:created_at}',
  },
  todoist: {
    name: 'Todoist',
    docs: 'https://developer.todoist.com/api/v1/#tag/Webhooks',
    checked: 'sdk',
    evidence: 'Doist/todoist-sdk-typescript, src/utils/webhook-parser.ts',
    secret: "the app's client secret",
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-todoist-hmac-sha256' },
        encoding: 'base64',
      },
    ],
    type: '{json:event_name}',
    deduplicate: '{header:x-todoist-delivery-id}',
  },
} as const satisfies Record<string, Preset>
