/** The transforms that every host has. */
import type { Transform, TransformInput } from './transform.ts'

/** The pretty-printed payload, cut to `longest` characters. */
function textOf(payload: unknown, longest: number): string {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)
  if (text.length <= longest) return text
  // A pair is not cut in half: services refuse the half.
  return `${text
    .slice(0, longest - 1)
    .toWellFormed()
    .replace(/\ufffd$/, '')}…`
}

/** Shown below the payload, so that a message can be found in the delivery log. */
const footerOf = ({ tenant, deliveryId }: TransformInput): string =>
  tenant === null ? deliveryId : `${tenant} · ${deliveryId}`

/** Three backquotes in a payload would end the block that it is shown in. */
const fenced = (text: string): string => text.replaceAll('```', "'''")

const SLACK_SECTION = 3000
const SLACK_ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Slack's three control characters: unescaped, a payload could mention everyone in a channel. */
const slackText = (text: string): string =>
  text.replace(/[&<>]/g, (character) => SLACK_ESCAPES[character]!)

/** An incoming webhook of Slack: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
const slack: Transform = (input) => {
  // An escape that is cut off is left out.
  const escaped = fenced(slackText(textOf(input.payload, SLACK_SECTION)))
  const text = escaped.slice(0, SLACK_SECTION - 10).toWellFormed()
  return {
    body: {
      text: slackText(input.event),
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: input.event.slice(0, 150) } },
        {
          type: 'section',
          text: { type: 'mrkdwn', text: `\`\`\`${text.replace(/&[a-z]*$/, '')}\`\`\`` },
        },
        { type: 'context', elements: [{ type: 'plain_text', text: footerOf(input) }] },
      ],
    },
  }
}

/** A webhook of Discord: https://docs.discord.com/developers/resources/webhook#execute-webhook */
const discord: Transform = (input) => ({
  body: {
    embeds: [
      {
        title: input.event,
        description: `\`\`\`json\n${fenced(textOf(input.payload, 4000))}\n\`\`\``,
        footer: { text: footerOf(input) },
      },
    ],
    // A payload must not be able to mention (and so notify) people.
    allowed_mentions: { parse: [] },
  },
})

/** An adaptive card, as the workflows of Microsoft Teams take it; at most 28 KB. */
const teams: Transform = (input) => ({
  body: {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', text: input.event, weight: 'Bolder', size: 'Medium', wrap: true },
            {
              type: 'TextBlock',
              text: textOf(input.payload, 6000),
              fontType: 'Monospace',
              wrap: true,
            },
            { type: 'TextBlock', text: footerOf(input), isSubtle: true, size: 'Small', wrap: true },
          ],
        },
      },
    ],
  },
})

/** CloudEvents 1.0, structured content mode, JSON format. */
const cloudevents: Transform = ({ event, payload, tenant, deliveryId }) => ({
  contentType: 'application/cloudevents+json; charset=utf-8',
  body: {
    specversion: '1.0',
    // Source and id together are the same over all attempts of a delivery.
    id: deliveryId,
    source: 'urn:svc:webhooks',
    type: event,
    datacontenttype: 'application/json',
    // An extension attribute: lower-case letters and digits, and no null.
    ...(tenant === null ? {} : { tenant }),
    data: payload as unknown,
  },
})

export const BUILT_IN: Readonly<Record<string, Transform>> = { slack, discord, teams, cloudevents }
