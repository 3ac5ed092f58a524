import { withHost } from '../host.ts'
import { DONE, type AddVerb } from '../verb.ts'

interface Options {
  schema?: string
  json?: boolean
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const redrive: AddVerb = (program, context) => {
  program
    .command('redrive <target>')
    .description('queues all dead letters of a subscription, or of a webhook, again')
    .usage('<subscription | webhook id> [options]')
    .option('--schema <name>', 'the option "schema" of svcCore, where the host has it')
    .option('--json', 'print the result as JSON')
    .action(
      context.runs(async (target: string, { schema, json }: Options) => {
        const isWebhook = UUID.test(target)
        const { redriven } = await withHost(
          context,
          isWebhook ? { schema, webhooks: true } : { schema },
          ({ events, webhooks }) => (isWebhook ? webhooks.redrive(target) : events.redrive(target)),
        )
        if (json) context.json({ redriven })
        else context.out(`${redriven} dead letters are queued again`)
        return DONE
      }),
    )
}
