import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InvalidDelivery, verifyDelivery } from '@svc/receiver'
import { DONE, WrongUsage, type AddVerb, type Context, type ExitCode } from '../verb.ts'
import { assertWebhookSecret } from './secret.ts'

interface Options {
  port: string
  secret?: string
  answer: string
  json?: boolean
}

const HELP = `
A delivery whose signature does not match is answered with 400 or 401. Without --secret nothing is verified,
and the output says so. The host must allow the address: allowedNetworks: ['127.0.0.0/8'].`

export const sink: AddVerb = (program, context) => {
  program
    .command('sink')
    .description('receives deliveries, verifies and prints them')
    .option('--port <port>', 'on 127.0.0.1; 0 for a free one', '4000')
    .option('--secret <whsec_…>', 'the secret of the webhook')
    .option('--answer <status>', 'the status of the answer', '204')
    .option('--json', 'print a line of JSON for each delivery')
    .addHelpText('after', HELP)
    .action(context.runs((options: Options) => receive(context, options)))
}

async function receive(context: Context, options: Options): Promise<ExitCode> {
  const port = integerOf('--port', options.port, 0, 65_535)
  const answer = integerOf('--answer', options.answer, 200, 599)
  assertWebhookSecret(options.secret)
  const server = createServer((request, response) => {
    void handle(context, options, answer, request, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  context.err(
    `listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/; Ctrl-C ends it`,
  )
  if (!context.signal.aborted) await once(context.signal, 'abort')
  server.close()
  server.closeAllConnections()
  return DONE
}

const LONGEST_BODY = 16 * 1024 * 1024

async function handle(
  context: Context,
  { secret, json }: Options,
  answer: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request).catch(() => undefined)
  // The sender is gone.
  if (body === undefined && request.destroyed) return
  const { verified, status, reason } =
    body === undefined
      ? { verified: false, status: 413, reason: `the body is longer than ${LONGEST_BODY} bytes` }
      : judge(request, body, secret, answer)
  response.writeHead(status).end()
  const { event, payload, deliveryId } = contentOf(body)
  if (json) {
    context.out(JSON.stringify({ event, deliveryId, verified, reason, answer: status, payload }))
    return
  }
  const state = verified
    ? context.style('green', 'verified')
    : context.style(secret === undefined ? 'yellow' : 'red', `not verified: ${reason}`)
  // As JSON: a text of the sender may have control characters.
  context.out(`${JSON.stringify(event)}  ${JSON.stringify(deliveryId)}  ${state}  ${status}`)
  context.out(`  ${JSON.stringify(payload)}`)
}

function judge(
  { headers }: IncomingMessage,
  body: Buffer,
  secret: string | undefined,
  answer: number,
): { verified: boolean; status: number; reason: string | null } {
  if (secret === undefined)
    return { verified: false, status: answer, reason: 'there is no --secret' }
  try {
    verifyDelivery({ headers, body, secret })
    return { verified: true, status: answer, reason: null }
  } catch (error) {
    if (!(error instanceof InvalidDelivery)) throw error
    return { verified: false, status: error.statusCode, reason: error.message }
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= LONGEST_BODY) chunks.push(chunk)
  }
  return bytes > LONGEST_BODY ? undefined : Buffer.concat(chunks)
}

/** Of what is no delivery, the body as it is. */
function contentOf(body: Buffer | undefined): {
  event: unknown
  payload: unknown
  deliveryId: unknown
} {
  const text = body?.toString('utf8') ?? ''
  try {
    const { event = null, payload = null, deliveryId = null } = JSON.parse(text)
    if (event !== null) return { event, payload, deliveryId }
  } catch {
    // It is not JSON.
  }
  return { event: null, payload: text, deliveryId: null }
}

/** @throws WrongUsage */
function integerOf(option: string, text: string, least: number, most: number): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw new WrongUsage(`${option} must be a number from ${least} to ${most}, got "${text}"`)
}
