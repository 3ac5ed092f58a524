import type { Preset } from '../preset.ts'

/** Chat, meetings and communities. */
export const messages = {
  slack: {
    name: 'Slack',
    docs: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
    checked: 'vector',
    evidence: 'the example of the page; @slack/bolt',
    secret: "the app's signing secret",
    reads: 'json or form',
    unwrap: 'payload',
    plainForms: true,
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
    deduplicate: ['{json:event_id}', '{body}'],
    handshakes: [
      {
        method: 'POST',
        when: { 'json:type': 'url_verification' },
        answer: { text: '{json:challenge}' },
      },
    ],
    note: 'The JSON in the field `payload` of an interaction is published. Commands are published as forms.',
  },
  discord: {
    name: 'Discord',
    docs: 'https://docs.discord.com/developers/events/webhook-events',
    checked: 'sdk',
    evidence: 'discord-interactions@4.4.0; discord/discord-api-docs, developers/events',
    secret: "the application's public key (hexadecimal)",
    schemes: [
      {
        algorithm: 'ed25519',
        signature: { in: 'header:x-signature-ed25519' },
        encoding: 'hex',
        key: { encoding: 'hex', form: 'raw' },
        signed: '{timestamp}{body}',
        timestamp: { in: 'header:x-signature-timestamp', toleranceSeconds: 600 },
      },
    ],
    type: ['{json:event.type}', 'interaction'],
    deduplicate: ['{json:id}', '{body}'],
    handshakes: [
      {
        method: 'POST',
        when: { 'json:type': '1', 'json:token': true },
        answer: { json: { type: 1 } },
      },
      { method: 'POST', when: { 'json:type': '0' }, answer: { status: 204 } },
    ],
    note: 'Discord sends wrong signatures to check that they are refused. Interactions need their own answer within 3 s. Discord retries for ten minutes.',
  },
  telegram: {
    name: 'Telegram bots',
    docs: 'https://core.telegram.org/bots/api#setwebhook',
    checked: 'documentation',
    evidence: 'the page',
    secret: 'the secret_token that setWebhook was given',
    schemes: [{ algorithm: 'token', in: 'header:x-telegram-bot-api-secret-token' }],
    type:
      '{key:message,edited_message,channel_post,edited_channel_post,business_connection,' +
      'business_message,edited_business_message,deleted_business_messages,message_reaction,' +
      'message_reaction_count,inline_query,chosen_inline_result,callback_query,shipping_query,' +
      'pre_checkout_query,purchased_paid_media,poll,poll_answer,my_chat_member,chat_member,' +
      'chat_join_request,chat_boost,removed_chat_boost}',
    deduplicate: '{json:update_id}',
    note: "The type is the name of the update's field. The token itself is sent, and the body is not signed.",
  },
  line: {
    name: 'LINE',
    docs: 'https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/',
    checked: 'vector',
    evidence: 'line/line-bot-sdk-nodejs',
    secret: "the channel's secret",
    split: 'events',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-line-signature' },
        encoding: 'base64',
      },
    ],
    type: '{item:type}',
    deduplicate: '{item:webhookEventId}',
    note: "LINE's console verifies the URL with an empty list of events.",
  },
  meta: {
    name: 'Meta: WhatsApp, Instagram, Messenger',
    docs: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
    checked: 'documentation',
    evidence: 'the page',
    secret: "the app's secret",
    needs: ['verifyTokenSecretName'],
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-hub-signature-256', prefix: 'sha256=' },
        encoding: 'hex',
      },
    ],
    type: '{json:object}',
    deduplicate: '{body}',
    handshakes: [
      {
        method: 'GET',
        when: { 'query:hub.mode': 'subscribe' },
        verifyToken: 'query:hub.verify_token',
        answer: { text: '{query:hub.challenge}' },
      },
    ],
    note: 'The body is signed as it is sent, with its escapes. One request may have many entries.',
  },
  microsoftTeams: {
    name: 'Microsoft Teams outgoing webhooks',
    docs: 'https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-outgoing-webhook',
    checked: 'documentation',
    evidence: 'MicrosoftDocs/msteams-docs, add-outgoing-webhook.md',
    secret: 'the security token of the outgoing webhook (base64)',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:authorization', prefix: 'HMAC ' },
        encoding: 'base64',
        key: { encoding: 'base64' },
      },
    ],
    type: '{json:type}',
    deduplicate: '{json:id}',
    answer: { json: { type: 'message', text: 'ok' } },
    note: 'Teams shows the answer in the channel. Override `answer` with the text.',
  },
  zoom: {
    name: 'Zoom',
    docs: 'https://developers.zoom.us/docs/api/webhooks/',
    checked: 'sdk',
    evidence: 'zoom/webhook-sample, index.js',
    secret: "the app's webhook secret token",
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-zm-signature', prefix: 'v0=' },
        encoding: 'hex',
        signed: 'v0:{timestamp}:{body}',
        timestamp: { in: 'header:x-zm-request-timestamp', toleranceSeconds: 300 },
      },
    ],
    type: '{json:event}',
    deduplicate: '{body}',
    handshakes: [
      {
        method: 'POST',
        when: { 'json:event': 'endpoint.url_validation' },
        answer: {
          json: {
            plainToken: '{json:payload.plainToken}',
            encryptedToken: '{hmac-hex:json:payload.plainToken}',
          },
        },
      },
    ],
  },
  webex: {
    name: 'Webex',
    docs: 'https://developer.webex.com/blog/using-a-webhook-secret',
    checked: 'documentation',
    evidence: 'the page',
    secret: 'the secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha1',
        signature: { in: 'header:x-spark-signature' },
        encoding: 'hex',
      },
    ],
    type: '{json:resource}.{json:event}',
    deduplicate: '{body}',
    note: 'The id in the body is that of the webhook. A repeat is recognised by its whole body.',
  },
  twitch: {
    name: 'Twitch EventSub',
    docs: 'https://dev.twitch.tv/docs/eventsub/handling-webhook-events/',
    checked: 'documentation',
    evidence: 'the page',
    secret: 'the secret of the subscription',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:twitch-eventsub-message-signature', prefix: 'sha256=' },
        encoding: 'hex',
        signed: '{header:twitch-eventsub-message-id}{timestamp}{body}',
        timestamp: {
          in: 'header:twitch-eventsub-message-timestamp',
          unit: 'rfc3339',
          toleranceSeconds: 600,
        },
      },
    ],
    type: ['{json:subscription.type}', '{header:twitch-eventsub-subscription-type}'],
    deduplicate: '{header:twitch-eventsub-message-id}',
    handshakes: [
      {
        method: 'POST',
        when: { 'header:twitch-eventsub-message-type': 'webhook_callback_verification' },
        answer: { text: '{json:challenge}' },
      },
    ],
    note: "The revocation of a subscription has the subscription's type, and `subscription.status` in the body.",
  },
  discourse: {
    name: 'Discourse',
    docs: 'https://meta.discourse.org/t/configure-webhooks-that-trigger-on-discourse-events/49045',
    checked: 'documentation',
    evidence: 'discourse/discourse, app/jobs/regular/emit_web_hook_event.rb (the sender)',
    secret: 'the secret of the webhook',
    contentTypes: ['application/x-www-form-urlencoded'],
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-discourse-event-signature', prefix: 'sha256=' },
        encoding: 'hex',
      },
    ],
    type: ['{header:x-discourse-event}', '{header:x-discourse-event-type}'],
    deduplicate: '{type}:{body}',
    remembersSeconds: 300,
    note: 'The body is JSON with either content type. Event and id are in headers that are not signed. The same event with the same body within five minutes is a repeat.',
  },
} as const satisfies Record<string, Preset>
