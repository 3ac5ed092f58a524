import { setTimeout as wait } from 'node:timers/promises'
import type { HostFacts } from '@svc/core/internal'
import { loadCore, withDatabase } from '../host.ts'
import { DONE, WrongUsage, type AddVerb, type Context, type ExitCode } from '../verb.ts'

interface Options {
  watch?: boolean
  schema?: string
  json?: boolean
}

const WATCH_MS = 2000
const CLEAR = '\u001B[2J\u001B[H'

export const status: AddVerb = (program, context) => {
  program
    .command('status')
    .description(
      'prints queues, the oldest waiting job, failing webhooks, pauses and live processes',
    )
    .option('--watch', 'print it again every 2 seconds, until Ctrl-C')
    .option('--schema <name>', 'the option "schema" of svcCore, where the host has it')
    .option('--json', 'print it as JSON')
    .action(context.runs((options: Options) => show(context, options)))
}

async function show(context: Context, { watch, schema, json }: Options): Promise<ExitCode> {
  const { signal } = context
  if (watch && json) throw new WrongUsage('--json prints once: leave out --watch')
  const { inspectHosts, isConnectionError } = await loadCore()
  return withDatabase(context, schema, async (database) => {
    let isFirst = true
    do {
      const facts = await inspectHosts(database).catch((error: Error) => {
        if (isFirst || !isConnectionError(error)) return explainMissing(error)
        context.err(context.styleErr('yellow', `${error.message}; it is asked again`))
        return undefined
      })
      isFirst = false
      if (json && facts) context.json(factsOf(facts))
      else if (facts) {
        if (watch && context.isTerminal) context.out(CLEAR)
        report(context, facts)
      }
      if (watch) await wait(WATCH_MS, undefined, { signal }).catch(() => {})
    } while (watch && !signal.aborted)
    return DONE
  })
}

/** @throws with what to do where the tables are missing */
export function explainMissing(error: Error & { code?: string }): never {
  const isMissing = error.code === '42P01' || error.code === '3F000'
  throw isMissing ? new Error('the tables are missing: run "npx svc migrate"') : error
}

const factsOf = ({ queues, paused, failingWebhooks, processes }: HostFacts) => ({
  queues,
  paused,
  failingWebhooks,
  processes: processes.map(({ id, seconds, declares: { about } }) => ({
    id,
    seconds,
    version: about?.version ?? null,
    node: about?.node ?? null,
    works: about?.works ?? null,
  })),
})

function report(context: Context, facts: HostFacts): void {
  const title = (text: string) => context.out(context.style('bold', text))
  const { queues, paused, failingWebhooks, processes } = factsOf(facts)
  title('Queues')
  const rows = queues.map(({ queue, waiting, active, oldestSeconds, dead }) => [
    nameOf(queue),
    String(waiting),
    String(active),
    waiting === 0 ? '' : durationOf(oldestSeconds),
    String(dead),
  ])
  for (const line of table([['', 'waiting', 'active', 'oldest due for', 'dead'], ...rows])) {
    context.out(line)
  }
  title(
    `Failing webhooks: ${failingWebhooks?.count ?? 'unknown, @svc/webhooks is not installed here'}`,
  )
  for (const webhook of failingWebhooks?.first ?? []) {
    const { id, url, tenant, since, disabled, failedAttempts } = webhook
    const facts = [tenant ?? 'of the operator', url, `${failedAttempts} attempts since ${since}`]
    context.out(`  ${id}  ${facts.join('  ')}${disabled ? '  disabled' : ''}`)
  }
  title(`Pauses: ${paused.length}`)
  for (const { scope, tenant, subscription, since, reason } of paused) {
    context.out(
      `  ${[scope, tenant ?? subscription, `since ${since}`, reason].filter(Boolean).join('  ')}`,
    )
  }
  title(`Live processes: ${processes.length}`)
  for (const { id, seconds, version, works } of processes) {
    const kind = works === false ? 'runs no jobs' : 'runs jobs'
    context.out(`  ${id}  ${version ?? 'an earlier version'}  ${kind}  for ${durationOf(seconds)}`)
  }
}

const nameOf = (queue: string): string =>
  queue === '__svc.webhooks.deliver' ? 'deliveries to webhooks' : queue.replace(/^__svc\.sub\//, '')

function durationOf(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 120) return `${whole} s`
  return whole < 7200 ? `${Math.round(whole / 60)} min` : `${(whole / 3600).toFixed(1)} h`
}

/** Columns of one width. */
function table(rows: string[][]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd(),
  )
}
