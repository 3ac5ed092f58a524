/** The transforms that every host has. */
import { shownJson } from './json-text.ts'
import type { JsonInput, JsonTransform } from './transform.ts'

/** Shown below the payload, so that a message can be found in the delivery log. */
const footerOf = ({ tenant, deliveryId }: JsonInput): string =>
  tenant === null ? deliveryId : `${tenant} · ${deliveryId}`

/** Three backquotes in a payload would end the block that it is shown in. */
const fenced = (text: string): string => text.replaceAll('```', "'''")

const SLACK_SECTION = 3000
const SLACK_ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Slack's three control characters: unescaped, a payload could mention everyone in a channel. */
const slackText = (text: string): string =>
  text.replace(/[&<>]/g, (character) => SLACK_ESCAPES[character]!)

/** An incoming webhook of Slack: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
const slack: JsonTransform['ofJson'] = (input) => {
  // An escape that is cut off is left out.
  const escaped = fenced(slackText(shownJson(input.json, SLACK_SECTION)))
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
const discord: JsonTransform['ofJson'] = (input) => ({
  body: {
    embeds: [
      {
        title: input.event,
        description: `\`\`\`json\n${fenced(shownJson(input.json, 4000))}\n\`\`\``,
        footer: { text: footerOf(input) },
      },
    ],
    // A payload must not be able to mention (and so notify) people.
    allowed_mentions: { parse: [] },
  },
})

/** An adaptive card, as the workflows of Microsoft Teams take it; at most 28 KB. */
const teams: JsonTransform['ofJson'] = (input) => ({
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
              text: shownJson(input.json, 6000),
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

/** CloudEvents 1.0, structured content mode, JSON format. The payload is inserted as JSON text. */
const cloudevents: JsonTransform['ofJson'] = ({ event, json, tenant, deliveryId, publishedAt }) => {
  const attributes = JSON.stringify({
    specversion: '1.0',
    // Source and id together are the same over all attempts of a delivery.
    id: deliveryId,
    source: 'urn:svc:webhooks',
    type: event,
    time: publishedAt.toISOString(),
    datacontenttype: 'application/json',
    // An extension attribute: lower-case letters and digits, and no null.
    ...(tenant === null ? {} : { tenant }),
  })
  return {
    contentType: 'application/cloudevents+json; charset=utf-8',
    body: `${attributes.slice(0, -1)},"data":${json}}`,
  }
}

/** The payload itself, as the text that was published. */
const payload: JsonTransform['ofJson'] = ({ json }) => ({
  contentType: 'application/json',
  body: json,
})

export const BUILT_IN: Readonly<Record<string, JsonTransform>> = {
  slack: { ofJson: slack },
  discord: { ofJson: discord },
  teams: { ofJson: teams },
  cloudevents: { ofJson: cloudevents },
  payload: { ofJson: payload },
}
