import { Option, type Command } from 'commander'
import type { Svc } from '@svc/core'
import { withHost } from '../host.ts'
import { DONE, type AddVerb, type Context, type ExitCode } from '../verb.ts'

interface Options {
  tenant?: string
  subscription?: string
  reason?: string
  schema?: string
  json?: boolean
}

const HELP = `
Events that are published meanwhile are kept, and handled once it is resumed.`

const withScope = (verb: Command): Command =>
  verb
    .addOption(
      new Option('--tenant <tenant>', 'deliveries to the webhooks of a tenant').conflicts(
        'subscription',
      ),
    )
    .option('--subscription <name>', 'the handler of a subscription')
    .option('--schema <name>', 'the option "schema" of svcCore, where the host has it')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)

export const pause: AddVerb = (program, context) => {
  withScope(
    program
      .command('pause')
      .description('stops all deliveries of webhooks, those of a tenant, or a subscription')
      .option('--reason <text>', 'is shown by svc status and in the console'),
  ).action(
    changing(context, true, ({ events, webhooks }, { subscription, tenant, reason }) =>
      subscription === undefined
        ? webhooks.pauseAll({ tenant, reason })
        : events.pause(subscription, { reason }),
    ),
  )
}

export const resume: AddVerb = (program, context) => {
  withScope(program.command('resume').description('lets go on what "pause" has stopped')).action(
    changing(context, false, ({ events, webhooks }, { subscription, tenant }) =>
      subscription === undefined ? webhooks.resumeAll({ tenant }) : events.resume(subscription),
    ),
  )
}

const changing = (
  context: Context,
  paused: boolean,
  change: (svc: Svc, options: Options) => Promise<unknown>,
) =>
  context.runs((options: Options) =>
    withHost(context, hostFor(options), async (svc) => {
      await change(svc, options)
      return said(context, options, paused)
    }),
  )

/** A subscription is core's. */
const hostFor = ({ subscription, schema }: Options) =>
  subscription === undefined ? { schema, webhooks: true as const } : { schema }

function said(context: Context, options: Options, paused: boolean): ExitCode {
  const { tenant = null, subscription = null, json } = options
  if (json) {
    context.json({ paused, tenant, subscription })
    return DONE
  }
  const what =
    subscription !== null
      ? `the subscription ${subscription} is`
      : tenant !== null
        ? `deliveries to the webhooks of ${tenant} are`
        : 'deliveries to all webhooks are'
  context.out(paused ? `${what} paused` : `${what} not paused any more`)
  return DONE
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
