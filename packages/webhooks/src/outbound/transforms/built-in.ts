/** The transforms that every host has. */
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

// JSON as indented text, token by token: its numbers stay as they are written, and what is cut is not printed.

const TOKEN = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+/y
const SPACE = /\s*/y

/**
 * The text that a payload is shown as, cut to `longest` characters: a string as it is, anything else
 * with an indent of two. The work is bounded by `longest`, however deep and large the payload is.
 */
export function shownJson(json: string, longest: number): string {
  const text = json.trimStart().startsWith('"')
    ? stringOf(json.trim(), longest)
    : indented(json, longest)
  if (text.length <= longest) return text
  // A pair is not cut in half: services refuse the half.
  return `${text
    .slice(0, longest - 1)
    .toWellFormed()
    .replace(/\ufffd$/, '')}…`
}

/** An escape of JSON takes six characters at most. */
const ESCAPE = 6

/** The string that a JSON string stands for; of a long one more than `longest` characters. */
function stringOf(json: string, longest: number): string {
  const most = (longest + 2) * ESCAPE
  if (json.length <= most) return JSON.parse(json) as string
  const cut = json.slice(0, most).replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, '')
  // A backslash that is left is one of a pair, or was the first of a cut escape.
  return JSON.parse(`${isOpenEscape(cut) ? cut.slice(0, -1) : cut}"`) as string
}

const isOpenEscape = (text: string): boolean => /\\*$/.exec(text)![0].length % 2 === 1

function indented(json: string, longest: number): string {
  let text = ''
  let depth = 0
  let at = 0
  let before = ''
  while (text.length <= longest) {
    SPACE.lastIndex = at
    SPACE.test(json)
    at = SPACE.lastIndex
    TOKEN.lastIndex = at
    const token = tokenAt(json, at, longest - text.length)
    if (token === null) return text
    at += token.length
    const isClosing = token === '}' || token === ']'
    if (isClosing) depth--
    const isEmpty = isClosing && (before === '{' || before === '[')
    const begins = before === '{' || before === '[' || before === ','
    if ((begins || isClosing) && !isEmpty) {
      // An indent is no longer than the part of it that is shown.
      text += `\n${' '.repeat(Math.min(2 * depth, longest - text.length + 1))}`
    }
    text += token === ':' ? ': ' : token.startsWith('"') ? readable(token) : token
    if (token === '{' || token === '[') depth++
    before = token
  }
  return text
}

/** The next token; of a string that is longer than what is shown, its beginning. */
function tokenAt(json: string, at: number, room: number): string | null {
  if (at >= json.length) return null
  const most = at + (room + 2) * ESCAPE
  const part = json.length > most && json[at] === '"' ? json.slice(at, most) : null
  if (part !== null) {
    const [whole] = /^"(?:[^"\\]|\\.)*"/.exec(part) ?? []
    return whole ?? part
  }
  TOKEN.lastIndex = at
  return TOKEN.exec(json)?.[0] ?? null
}

/** A string without the escapes that it does not need. */
function readable(token: string): string {
  if (!token.includes('\\u') || token.length < 2 || !token.endsWith('"')) return token
  try {
    return JSON.stringify(JSON.parse(token))
  } catch {
    return token
  }
}
