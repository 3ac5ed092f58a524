import { join } from 'node:path'
import t from 'tap'
import { readExamples } from './examples.ts'
import { holding, received, sign } from './received.ts'

// The rows of the second table: signed here as the providers describe it, for want of requests of theirs.
const { rows } = await readExamples(join(t.testdir(), 'examples'))

const body = '{"a":"Zürich"}'
const NOW_MS = 1_700_000_000_000
const seconds = String(NOW_MS / 1000)
const ms = String(NOW_MS)
const hex = (text: string, algorithm?: string) => sign(text, 'k', algorithm).toString('hex')
const base64 = (text: string) => sign(text, 'k').toString('base64')
const basic = `Basic ${Buffer.from('postmark:k').toString('base64')}`

const signed: [provider: string, ...lines: [string, string][]][] = [
  ['Calendly', ['Calendly-Webhook-Signature', `t=${seconds},v1=${hex(`${seconds}.${body}`)}`]],
  ['Cloudflare Stream', ['Webhook-Signature', `time=${seconds},sig1=${hex(`${seconds}.${body}`)}`]],
  ['Deepgram', ['dg-token', 'k']],
  ['DocuSign', ['X-DocuSign-Signature-1', base64(body)]],
  ['Dropbox', ['X-Dropbox-Signature', hex(body)]],
  ['ElevenLabs', ['ElevenLabs-Signature', `t=${seconds},v0=${hex(`${seconds}.${body}`)}`]],
  ['GitLab (secret token)', ['X-Gitlab-Token', 'k']],
  ['Intercom', ['X-Hub-Signature', `sha1=${hex(body, 'sha1')}`]],
  ['Klaviyo', ['Klaviyo-Signature', hex(body + seconds)], ['Klaviyo-Timestamp', seconds]],
  ['LaunchDarkly', ['X-LD-Signature', hex(body)]],
  ['Lemon Squeezy', ['X-Signature', hex(body)]],
  ['Meta, WhatsApp', ['X-Hub-Signature-256', `sha256=${hex(body)}`]],
  ['Paystack', ['x-paystack-signature', hex(body, 'sha512')]],
  ['Postmark, Chargebee', ['Authorization', basic]],
  ['Sentry', ['Sentry-Hook-Signature', hex(body)]],
  [
    'Twitch',
    ['Twitch-Eventsub-Message-Signature', `sha256=${hex(`id${seconds}${body}`)}`],
    ['Twitch-Eventsub-Message-Id', 'id'],
    ['Twitch-Eventsub-Message-Timestamp', seconds],
  ],
  ['Typeform', ['Typeform-Signature', `sha256=${base64(body)}`]],
  ['Vercel', ['x-vercel-signature', hex(body, 'sha1')]],
  ['Webflow', ['x-webflow-signature', hex(`${ms}:${body}`)], ['x-webflow-timestamp', ms]],
  ['WooCommerce', ['X-WC-Webhook-Signature', base64(body)]],
  ['Xero', ['x-xero-signature', base64(body)]],
  [
    'Zendesk',
    ['X-Zendesk-Webhook-Signature', base64(`${seconds}${body}`)],
    ['X-Zendesk-Webhook-Signature-Timestamp', seconds],
  ],
]

for (const [provider, ...lines] of signed) {
  t.test(
    `the documented lines for ${provider} read what its documentation describes`,
    async (t) => {
      const verify = rows.get(provider)
      if (!verify) return t.fail('there is no such row')
      t.intercept(Date, 'now', { value: () => NOW_MS })
      const [[name, value] = ['', ''], ...others] = lines
      const forged = received([[name, `${value}A`], ...others], body)
      t.equal(await verify(received(lines, body), body, holding('k')), true)
      t.equal(await verify(forged, body, holding('k')), false)
      t.equal(await verify(received(others, body), body, holding('k')), false)
    },
  )
}
