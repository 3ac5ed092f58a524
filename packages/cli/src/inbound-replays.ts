/** `svc listen --inbound`: what providers have sent to a host is sent to a local application too. */
import { setTimeout as wait } from 'node:timers/promises'
import { untilAnswered, type HostApi } from './host-api.ts'
import { post } from './local-requests.ts'
import { WrongUsage, type Context } from './verb.ts'

interface Options {
  source?: string
  resign?: string
  secret?: string
  events?: string
  json?: boolean
}

interface Logged {
  id: string
  at: string
  source: string
  event: string | null
  reason: string | null
  headers?: Record<string, string | string[]>
  /** Text; of bytes that are not UTF-8 a character for each byte. */
  body?: string
  /** Of the body. */
  bytes: number
}

const EACH_MS = 1000
/** A row appears when its transaction ends, so one of an earlier time may come after others. */
const LATE_MS = 30_000

export async function replayInbound(
  context: Context,
  api: HostApi,
  to: URL,
  options: Options,
): Promise<void> {
  const { signal } = context
  const { source, events, json } = options
  if (events !== undefined)
    throw new WrongUsage('--events is no option of --inbound: give --source')
  const sign = await signerOf(to, options)
  const filter = { outcome: 'accepted', ...(source !== undefined && { source }) }
  const [newest] = await newestOf(api, filter)
  let since = newest && earlier(newest.at)
  if (source !== undefined && !newest) await nameOthers(context, api, source)
  const list = () =>
    api.list<Logged>('/inbound', since === undefined ? filter : { ...filter, since })
  let seen = new Set<string>()
  if (newest) seen = new Set((await list()).map(({ id }) => id))
  context.err(`listening to ${api.base}/inbound, sending to ${to.href}; Ctrl-C ends it`)
  let saidThatBodiesLack = false
  while (!signal.aborted) {
    const rows = (await untilAnswered(context, list)) ?? []
    for (const row of rows.toReversed()) {
      if (seen.has(row.id) || row.reason === 'handshake') continue
      if (row.body !== undefined) {
        const facts = { source: row.source, event: row.event ?? row.source, id: row.id }
        await post(
          context,
          to,
          sign(bytesOf(row.body, row.bytes), kept(row.headers ?? {})),
          facts,
          json,
        )
      } else if (!saidThatBodiesLack) {
        saidThatBodiesLack = true
        const text = `the body of ${row.id} was not kept: set inboundLog: { rawBodies: true } of svcWebhooks there`
        context.err(context.styleErr('yellow', text))
      }
    }
    if (rows[0]) since = earlier(rows[0].at)
    if (rows.length > 0) seen = new Set(rows.map(({ id }) => id))
    await wait(EACH_MS, undefined, { signal }).catch(() => {})
  }
}

async function newestOf(api: HostApi, filter: Record<string, string>): Promise<Logged[]> {
  try {
    return await api.get<Logged[]>('/inbound', { ...filter, limit: '1' })
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'SVC_WEBHOOKS_NOT_FOUND') throw error
    throw new Error(`the host at ${api.base} has no inbound sources, or keeps no log of them`, {
      cause: error,
    })
  }
}

/** A name with a typing error would wait for ever. The log knows the sources to which something has come. */
async function nameOthers(context: Context, api: HostApi, source: string): Promise<void> {
  const rows = await api.get<Logged[]>('/inbound', { limit: '200' })
  const others = [...new Set(rows.map((row) => row.source))].toSorted()
  if (others.includes(source)) return
  const known = others.length === 0 ? 'nor to any other' : `but to ${others.join(', ')}`
  const text = `nothing has come to a source "${source}" lately, ${known}: it is waited for`
  context.err(context.styleErr('yellow', text))
}

const earlier = (at: string): string => new Date(Date.parse(at) - LATE_MS).toISOString()

type Headers = [name: string, value: string][]
type Sign = (
  body: Uint8Array<ArrayBuffer>,
  headers: Headers,
) => { headers: Headers; body: string | Uint8Array<ArrayBuffer> }

/** @throws WrongUsage */
async function signerOf(to: URL, { resign: provider, secret, source }: Options): Promise<Sign> {
  if (provider === undefined) {
    if (secret === undefined) return (body, headers) => ({ body, headers })
    throw new WrongUsage('with --inbound, --secret needs --resign and the name of the provider')
  }
  if (secret === undefined)
    throw new WrongUsage('--resign needs --secret: the one that the local application has')
  if (source === undefined) {
    throw new WrongUsage('--resign needs --source: the source of the host that has this provider')
  }
  // Verbs that do not sign start without the presets.
  const { signed } = await import('@svc/providers/testing')
  const sign: Sign = (body, headers) => {
    // What was masked is made anew.
    const own = Object.fromEntries(headers.filter(([, value]) => value !== '***'))
    const request = signed(provider, body, { secret, url: to.href, headers: own })
    return { body: request.payload, headers: Object.entries(request.headers) }
  }
  try {
    sign(Buffer.from('{}'), [])
  } catch (error) {
    throw new WrongUsage(
      `--resign ${provider}: ${(error as Error).message.replace(/^signed: /, '')}`,
    )
  }
  return sign
}

function bytesOf(body: string, length: number): Uint8Array<ArrayBuffer> {
  const isUtf8 = Buffer.byteLength(body) === length
  return Buffer.from(body, isUtf8 ? 'utf8' : 'latin1')
}

/** Those of the connection are the new connection's own. */
const OF_CONNECTION =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect)$/

function kept(headers: Record<string, string | string[]>): Headers {
  return Object.entries(headers)
    .filter(([name]) => !OF_CONNECTION.test(name))
    .flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]))
}
