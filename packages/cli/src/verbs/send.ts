import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { withHost } from '../host.ts'
import { DONE, WrongUsage, type AddVerb, type Context } from '../verb.ts'

interface Options {
  payload: string
  tenant?: string
  id?: string
  schema?: string
  json?: boolean
}

const HELP = `
It publishes as a host does: handlers and webhooks that want the event get it. The schemas of the
host's defineEvents are not known here, so the payload is not checked against them.`

export const send: AddVerb = (program, context) => {
  program
    .command('send <event>')
    .description('publishes an event')
    .option('--payload <json | @file>', 'the payload, or a file that has it', '{}')
    .option('--tenant <tenant>', 'whom it is for')
    .option('--id <id>', 'a second event of this name and id is not published again')
    .option('--schema <name>', 'the option "schema" of svcCore, where the host has it')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(
      context.runs(async (event: string, { payload, tenant, id, schema, json }: Options) => {
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
