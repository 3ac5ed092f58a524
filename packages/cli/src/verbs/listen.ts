import { randomUUID } from 'node:crypto'
import { ownSignature, standardSignature } from '@svc/receiver/internal'
import { HostApi, untilAnswered, urlOf } from '../host-api.ts'
import { replayInbound } from '../inbound-replays.ts'
import { post } from '../local-requests.ts'
import { DONE, WrongUsage, type AddVerb, type Context } from '../verb.ts'
import { assertWebhookSecret, newWebhookSecret } from './secret.ts'

interface Options {
  to: string
  url: string
  events?: string
  secret?: string
  inbound?: boolean
  source?: string
  resign?: string
  json?: boolean
}

interface FeedPage {
  events: { id: string; name: string; payload: unknown; tenant: string | null }[]
  cursor: string
}

const HELP = `
It needs no tunnel: it reads the feed of the host, from now on, with the key in SVC_KEY, which needs
the scope events:read, webhooks:manage or admin. An event is sent once, whatever the answer is.
Payloads are those of the feed: without filters, fields and transforms of a webhook.

With --inbound it sends what arrives at the sources of the host from now on: each request that was
accepted, with the body and the headers that "inboundLog: { rawBodies: true }" kept. The key needs
webhooks:manage or admin. Signatures are not kept (they are ***): turn the verification of the local
application off, or sign again with --resign and the secret that the application has.`

export const listen: AddVerb = (program, context) => {
  program
    .command('listen')
    .description('sends the events of a host to a local URL, as deliveries')
    .requiredOption('--to <url>', 'where they are sent, such as http://localhost:3000/hook')
    .requiredOption(
      '--url <url>',
      'the host, with the base path of its webhooks if that is not /_webhooks',
    )
    .option('--events <a,b.*>', 'which events (default: all allowed ones)')
    .option('--secret <whsec_…>', 'signs them (default: a new one, which is printed)')
    .option('--inbound', 'the requests that the host receives from providers, in place of events')
    .option('--source <name>', 'with --inbound: those of one source (default: all)')
    .option('--resign <provider>', 'with --inbound: sign them as this provider does, with --secret')
    .option('--json', 'print a line of JSON for each of them')
    .addHelpText('after', HELP)
    .action(
      context.runs(async (options: Options) => {
        const api = new HostApi(context, options.url)
        const to = urlOf('--to', options.to)
        await (options.inbound
          ? replayInbound(context, api, to, options)
          : relay(context, api, to, options))
        return DONE
      }),
    )
}

async function relay(
  context: Context,
  api: HostApi,
  to: URL,
  { events: wanted, secret: given, source, resign, json }: Options,
): Promise<void> {
  const { signal } = context
  if ((source ?? resign) !== undefined) {
    throw new WrongUsage('--source and --resign are options of --inbound')
  }
  assertWebhookSecret(given)
  const secret = given ?? newWebhookSecret()
  const events: Record<string, string> = wanted ? { events: wanted } : {}
  let { cursor } = await api.get<FeedPage>('/feed', { ...events, limit: '1' })
  if (given === undefined) context.out(`WEBHOOK_SECRET=${secret}`)
  context.err(`listening to ${api.base}/feed, sending to ${to.href}; Ctrl-C ends it`)
  while (!signal.aborted) {
    const page = await untilAnswered(context, () =>
      api.get<FeedPage>('/feed', { ...events, after: cursor, wait: '20' }),
    )
    for (const { id, name, payload, tenant } of page?.events ?? []) {
      const delivery = { event: name, payload, deliveryId: randomUUID(), tenant }
      const request = signedDelivery(delivery, secret)
      await post(context, to, request, { event: name, id, tenant }, json)
    }
    cursor = page?.cursor ?? cursor
  }
}

interface Delivery {
  event: string
  payload: unknown
  deliveryId: string
  tenant: string | null
}

/** As a host sends it: its envelope, its headers and its signatures. */
function signedDelivery(
  { event, payload, deliveryId, tenant }: Delivery,
  secret: string,
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify({ event, payload, deliveryId })
  const bytes = Buffer.from(body)
  const timestamp = Math.floor(Date.now() / 1000)
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-svc-delivery-id': deliveryId,
      'x-svc-event': event,
      'x-svc-attempt': '1',
      'x-svc-timestamp': String(timestamp),
      'x-svc-signature': ownSignature(secret, timestamp, bytes),
      ...(tenant !== null && { 'x-svc-tenant': tenant }),
      ...(secret.startsWith('whsec_') && {
        'webhook-id': deliveryId,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': standardSignature(secret, deliveryId, timestamp, bytes),
      }),
    },
  }
}
