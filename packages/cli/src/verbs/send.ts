import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { HostApi } from '../host-api.ts'
import { withHost } from '../host.ts'
import { DONE, WrongUsage, type AddVerb, type Context, type ExitCode } from '../verb.ts'

interface Options {
  payload?: string
  tenant?: string
  id?: string
  schema?: string
  via?: string
  url?: string
  json?: boolean
}

const HELP = `
It publishes as a host does: handlers and webhooks that want the event get it. The schemas of the
host's defineEvents are not known here, so the payload is not checked against them.

With --via it asks the host in --url, with the key in SVC_KEY, to send the example of the event to
one webhook alone, with the transforms, fields and secrets of it, marked as a test. It needs no
DATABASE_URL. The key needs webhooks:manage or admin.`

export const send: AddVerb = (program, context) => {
  program
    .command('send <event>')
    .description('publishes an event')
    .option('--payload <json | @file>', 'the payload, or a file that has it (default: {})')
    .option('--tenant <tenant>', 'whom it is for')
    .option('--id <id>', 'a second event of this name and id is not published again')
    .option('--schema <name>', 'the option "schema" of svcCore, where the host has it')
    .option('--via <webhook id>', 'sends the example of the event to this webhook alone')
    .option(
      '--url <url>',
      'with --via: the host, with the base path of its webhooks if that is not /_webhooks',
    )
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(
      context.runs(async (event: string, options: Options) => {
        const { payload = '{}', tenant, id, schema, json } = options
        if (options.via !== undefined) return sendVia(context, event, options.via, options)
        if (options.url !== undefined) throw new WrongUsage('--url is an option of --via')
        const parsed = await payloadOf(context, payload)
        const sent = await withHost(context, { schema }, ({ events }) =>
          events.publish(event, parsed, { tenant, id }),
        )
        if (json) context.json(sent)
        else if (sent.duplicate) context.out(`${event} ${sent.id} was published before`)
        else context.out(`published ${event} ${sent.id}`)
        return DONE
      }),
    )
}

/** The host makes the delivery: it alone has its schemas, transforms and options. */
async function sendVia(
  context: Context,
  event: string,
  webhookId: string,
  { url, json, ...others }: Options,
): Promise<ExitCode> {
  for (const name of ['payload', 'tenant', 'id', 'schema'] as const) {
    if (others[name] !== undefined) {
      throw new WrongUsage(
        `--via sends the example that the host has of the event: leave --${name} out`,
      )
    }
  }
  if (url === undefined) throw new WrongUsage('--via needs --url: the host that has the webhook')
  const path = `/${encodeURIComponent(webhookId)}/test`
  const sent = await new HostApi(context, url).post<{ deliveryId: string }>(path, { event })
  if (json) context.json(sent)
  else context.out(`queued ${event} for the webhook ${webhookId}, delivery ${sent.deliveryId}`)
  return DONE
}

/** @throws WrongUsage */
async function payloadOf({ folder }: Context, given: string): Promise<unknown> {
  const file = given.startsWith('@') ? given.slice(1) : undefined
  const text = file === undefined ? given : await textOf(resolve(folder, file))
  try {
    return JSON.parse(text)
  } catch (error) {
    const what = file === undefined ? 'the payload' : `the file ${file}`
    throw new WrongUsage(
      `${what} is not JSON (${(error as Error).message}): give JSON such as '{"id":1}', or @ and the name of a file`,
    )
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new WrongUsage(`the file of the payload cannot be read: ${(error as Error).message}`)
  }
}
