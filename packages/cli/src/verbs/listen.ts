import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { HostApi, reasonOf, urlOf } from '../host-api.ts'
import { signedDelivery } from '../signed-delivery.ts'
import { DONE, Unreachable, type AddVerb, type Context, type ExitCode } from '../verb.ts'
import { assertWebhookSecret, newWebhookSecret } from './secret.ts'

interface Options {
  to: string
  url: string
  events?: string
  secret?: string
  json?: boolean
}

interface FeedPage {
  events: { id: string; name: string; payload: unknown; tenant: string | null }[]
  cursor: string
}

const HELP = `
It needs no tunnel: it reads the feed of the host, from now on, with the key in SVC_KEY, which needs
the scope events:read, webhooks:manage or admin. An event is sent once, whatever the answer is.
Payloads are those of the feed: without filters, fields and transforms of a webhook.`

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
    .option('--json', 'print a line of JSON for each event')
    .addHelpText('after', HELP)
    .action(context.runs((options: Options) => relay(context, options)))
}

/** After the host did not answer. */
const AGAIN_MS = 2000

async function relay(context: Context, options: Options): Promise<ExitCode> {
  const { signal } = context
  const api = new HostApi(context, options.url)
  const to = urlOf('--to', options.to)
  assertWebhookSecret(options.secret)
  const secret = options.secret ?? newWebhookSecret()
  const events: Record<string, string> = options.events ? { events: options.events } : {}
  let { cursor } = await api.get<FeedPage>('/feed', { ...events, limit: '1' })
  if (options.secret === undefined) context.out(`WEBHOOK_SECRET=${secret}`)
  context.err(`listening to ${api.base}/feed, sending to ${to.href}; Ctrl-C ends it`)
  while (!signal.aborted) {
    const page = await api
      .get<FeedPage>('/feed', { ...events, after: cursor, wait: '20' })
      .catch(async (error: Error) => {
        if (signal.aborted || !(error instanceof Unreachable)) throw error
        context.err(context.styleErr('yellow', `${error.message}; it is asked again`))
        await wait(AGAIN_MS, undefined, { signal }).catch(() => {})
        return undefined
      })
    for (const event of page?.events ?? []) await send(context, to, secret, event, options)
    cursor = page?.cursor ?? cursor
  }
  return DONE
}

const DELIVERY_MS = 10_000

async function send(
  context: Context,
  to: URL,
  secret: string,
  { id, name, payload, tenant }: FeedPage['events'][number],
  { json }: Options,
): Promise<void> {
  const request = signedDelivery({ event: name, payload, deliveryId: randomUUID(), tenant }, secret)
  const beganMs = performance.now()
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(DELIVERY_MS)])
  const { answer, error } = await fetch(to, {
    method: 'POST',
    redirect: 'manual',
    signal,
    ...request,
  })
    .then(async (response) => {
      await response.arrayBuffer()
      return { answer: response.status, error: null }
    })
    .catch((failure: Error) => ({ answer: null, error: reasonOf(failure) }))
  if (context.signal.aborted) return
  const durationMs = Math.round(performance.now() - beganMs)
  if (json) context.out(JSON.stringify({ event: name, id, tenant, answer, error, durationMs }))
  else {
    const isFine = answer !== null && answer >= 200 && answer < 300
    const result = context.style(isFine ? 'green' : 'red', String(answer ?? error))
    context.out(`${name}  ${id}  ${result}  ${durationMs} ms`)
  }
}
