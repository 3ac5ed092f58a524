import type { HostFacts, inspectStuck, ServerFacts } from '@svc/core/internal'
import { installedVersions } from '../installed-versions.ts'
import { loadCore, withDatabase } from '../host.ts'
import { DONE, TO_DO, type AddVerb, type Context } from '../verb.ts'

/** Something that someone should do. */
interface Finding {
  code: string
  what: string
  remedy: string
}

type Stuck = Awaited<ReturnType<typeof inspectStuck>>
type LiveProcess = HostFacts['processes'][number]

interface Options {
  schema?: string
  json?: boolean
}

const HELP = `
It looks at versions, rights, missing parts, the clock, settings of the server, options that differ
between live processes, what is stuck and why, and tasks that fail. It only reads.
A job is stuck if it has been due for an hour, or for 10 seconds where no live process has a worker
for it. A process is stuck if it is 20 seconds late with a sign of life, or more.
It ends with 1 if it finds something to do. Dead letters of the last day are a warning: it ends with 0.`

export const doctor: AddVerb = (program, context) => {
  program
    .command('doctor')
    .description('looks for what is wrong, and says what to do')
    .option('--schema <name>', 'the option "schema" of svcCore, where the host has it')
    .option('--json', 'print { findings, facts } as JSON')
    .addHelpText('after', HELP)
    .action(
      context.runs(async ({ schema, json }: Options) => {
        const { findings, facts } = await examine(context, schema)
        if (json) context.json({ findings, facts })
        else report(context, findings, facts)
        return findings.length === 0 ? DONE : TO_DO
      }),
    )
}

async function examine(
  context: Context,
  schema: string | undefined,
): Promise<{ findings: Finding[]; facts: object }> {
  const { database: place, log, signal, folder } = context
  const { checkAll, inspectHosts, inspectRights, inspectServer, inspectStuck } = await loadCore()
  const versions = await installedVersions(folder)
  const ofVersions = differingPackages(versions)
  try {
    return await withDatabase(context, schema, async (database) => {
      const server = await inspectServer(database)
      const common = [...ofVersions, ...serverFindings(server)]
      const lacks = await inspectRights(database)
      // Without a right to read them it is not known whether tables are complete.
      if (lacks.length > 0) {
        return { findings: [...common, ...lacks.map(rightFinding)], facts: { versions, server } }
      }
      const { problems } = await checkAll({ database: place, schema, log, signal })
      const missing = problems.map(({ owner, lack, error }) =>
        missingPart(owner, lack, error, schema),
      )
      if (problems.some(({ owner }) => owner === '@svc/core' || owner === 'pg-boss')) {
        return { findings: [...common, ...missing], facts: { versions, server } }
      }
      const hosts = await inspectHosts(database)
      const stuck = await inspectStuck(database)
      const isUsed = usedBy(hosts)
      return {
        findings: [
          ...common,
          ...missing.filter((_, index) => isUsed(problems[index]!.owner)),
          ...processFindings(hosts),
          ...stuckFindings(hosts, stuck),
        ],
        facts: { versions, server, ...factsOf(hosts), deadOfDay: stuck.deadOfDay },
      }
    })
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string }
    if (!UNUSABLE.has(code)) throw error
    const [reason = '', change = ''] = message
      .replace(/^svcCore /, 'The packages ')
      .split(/: (.*)/s)
    const remedy =
      code === CITUS_UNUSABLE
        ? `${change[0]?.toUpperCase()}${change.slice(1)}.`
        : 'Use another database.'
    return { findings: [...ofVersions, { code, what: `${reason}.`, remedy }], facts: { versions } }
  }
}

/** Whether a host has this plugin: one may be installed that none registers. Where no host lives, all count. */
function usedBy({ processes }: HostFacts): (owner: string) => boolean {
  const known = processes.flatMap(({ declares }) => declares.about ?? [])
  const plugins = new Set(known.flatMap(({ options }) => Object.keys(options)))
  return (owner) => known.length === 0 || plugins.has(PLUGIN_OF[owner] ?? owner)
}

const PLUGIN_OF: Record<string, string> = {
  '@svc/auth': 'svcAuth',
  '@svc/webhooks': 'svcWebhooks',
  '@svc/console': 'svcConsole',
}

const CITUS_UNUSABLE = 'SVC_CORE_CITUS_UNUSABLE'
const UNUSABLE = new Set([
  'SVC_CORE_DATABASE_TOO_OLD',
  'SVC_CORE_DATABASE_NOT_UTF8',
  CITUS_UNUSABLE,
])

function differingPackages(versions: Record<string, string>): Finding[] {
  const ours = Object.entries(versions).filter(([name]) => name.startsWith('@svc/'))
  if (new Set(ours.map(([, version]) => version)).size < 2) return []
  const named = ours.map(([name, version]) => `${name} ${version}`)
  return [
    {
      code: 'PACKAGES_DIFFER',
      what: `The packages of this folder have different versions: ${named.join(', ')}.`,
      remedy: 'Install the same version of all @svc packages.',
    },
  ]
}

/** Below it a difference has no effect that is seen. */
const CLOCK_MS = 2000
const MOST_CONNECTIONS = 0.9

function serverFindings(server: ServerFacts): Finding[] {
  const { settings, connections, clockAheadMs, isReadOnly } = server
  const findings: Finding[] = []
  if (Math.abs(clockAheadMs) > CLOCK_MS) {
    const way = clockAheadMs > 0 ? 'ahead of' : 'behind'
    findings.push({
      code: 'CLOCK_DIFFERS',
      what: `The clock of this machine is ${(Math.abs(clockAheadMs) / 1000).toFixed(1)} seconds ${way} that of the database.`,
      remedy:
        'Synchronise both clocks (NTP): signatures of webhooks and expiries of keys are judged by the time.',
    })
  }
  if (isReadOnly) {
    findings.push({
      code: 'DATABASE_READ_ONLY',
      what: 'This session may not write: the server is a standby, or default_transaction_read_only is on.',
      remedy: 'Point DATABASE_URL at the primary, or turn the setting off.',
    })
  }
  if (settings['fsync'] === 'off') {
    findings.push({
      code: 'FSYNC_OFF',
      what: 'fsync is off: a crash of the server can destroy its data.',
      remedy: 'Set fsync to on. Only a server for tests may have it off.',
    })
  }
  if (settings['synchronous_commit'] === 'off') {
    findings.push({
      code: 'COMMITS_NOT_DURABLE',
      what: 'synchronous_commit is off: a crash of the server loses events and deliveries that were acknowledged.',
      remedy: 'Set synchronous_commit to on for the role and the database of the hosts.',
    })
  }
  if (settings['autovacuum'] === 'off') {
    findings.push({
      code: 'AUTOVACUUM_OFF',
      what: 'autovacuum is off: the tables of jobs grow, and their statements become slow.',
      remedy: 'Set autovacuum to on.',
    })
  }
  if (connections.open >= connections.most * MOST_CONNECTIONS) {
    findings.push({
      code: 'CONNECTIONS_NEARLY_USED_UP',
      what: `${connections.open} of ${connections.most} connections of the server are open.`,
      remedy:
        'Lower "max" of the option "database" of the hosts, raise max_connections, or use a pooler.',
    })
  }
  return findings
}

const rightFinding = (right: string): Finding => ({
  code: 'RIGHT_MISSING',
  what: `The role lacks ${right}.`,
  remedy: 'Run "npx svc migrate --grant-to <role>" as the owner of the tables.',
})

function missingPart(
  owner: string,
  lack: string | undefined,
  error: Error,
  schema: string | undefined,
): Finding {
  if (lack === undefined) {
    const [what = '', remedy = ''] = error.message.replace(/^svcCore: t/, 'T').split(/\. (?=Run)/)
    return { code: 'JOBS_SCHEMA_DIFFERS', what: `${what}.`, remedy }
  }
  const option = schema === undefined ? '' : ` --schema ${schema}`
  return {
    code: 'PARTS_MISSING',
    what: `Of ${owner}, ${lack.replace(/^these parts of \S+ are/, 'these parts are')}.`,
    remedy: `Run "npx svc migrate${option}".`,
  }
}

/** A process that has just booted may be a command, whose options differ from those of hosts. */
const SETTLED_SECONDS = 10

function processFindings({ processes }: HostFacts): Finding[] {
  const known = processes.filter(
    ({ seconds, declares }) => seconds >= SETTLED_SECONDS && declares.about,
  )
  const versions = new Set(known.map(({ declares }) => declares.about!.version))
  const findings: Finding[] = []
  if (versions.size > 1) {
    findings.push({
      code: 'PROCESSES_DIFFER',
      what: `Live processes have different versions of @svc/core: ${[...versions].toSorted().join(', ')}.`,
      remedy: 'Finish the deploy. Two successive versions work side by side meanwhile.',
    })
  }
  for (const [option, values] of differingOptions(known)) {
    findings.push({
      code: 'OPTIONS_DIFFER',
      what: `Live processes have different values of ${option}: ${values.join(' and ')}.`,
      remedy:
        'Give all processes the same value: which of them handles a request or a delivery is chance.',
    })
  }
  for (const { id, declares, silentSeconds } of processes) {
    if (silentSeconds > 0 && declares.about?.works !== false) {
      findings.push({
        code: 'PROCESS_SILENT',
        what: `The process ${id} runs jobs, and its lease ended ${inWords(silentSeconds, 'second')} ago. Others do not take its jobs while it is connected.`,
        remedy: 'Restart it. It has been stopped, or code of the host blocks its event loop.',
      })
    }
    for (const { name, failures, since, error } of declares.failing ?? []) {
      findings.push({
        code: 'TASK_FAILS',
        what: `In the process ${id}, the task "${name}" has failed ${inWords(failures, 'time')} in a row since ${since}: ${error}`,
        remedy: 'Mend what the error says. The task is tried again by itself.',
      })
    }
  }
  return findings
}

/** Each with its values, as JSON. */
function differingOptions(processes: LiveProcess[]): [option: string, values: string[]][] {
  const values = new Map<string, Set<string>>()
  for (const { declares } of processes) {
    for (const [plugin, options] of Object.entries(declares.about?.options ?? {})) {
      for (const [name, value] of leavesOf(options)) {
        const option = `"${name}" of ${plugin}`
        values.set(option, (values.get(option) ?? new Set()).add(JSON.stringify(value)))
      }
    }
  }
  return [...values]
    .filter(([, different]) => different.size > 1)
    .map(([option, different]) => [option, [...different]])
}

/** Options in groups, such as those of `worker`, by their dotted names. */
function leavesOf(options: Record<string, unknown>, path = ''): [name: string, value: unknown][] {
  return Object.entries(options).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? leavesOf(value as Record<string, unknown>, `${path}${name}.`)
      : [[`${path}${name}`, value]],
  )
}

function stuckFindings({ processes }: HostFacts, { jobs, work }: Stuck): Finding[] {
  const workers = processes.filter(({ declares }) => declares.about?.works !== false)
  const works = workers.length > 0
  const isDeclared = (queue: string) =>
    workers.some(
      ({ declares }) => queue === DELIVERIES || declares.events[queue.slice(SUBSCRIPTION.length)],
    )
  const isStuck = ({ queue, late }: Stuck['jobs'][number]) => late > 0 || !isDeclared(queue)
  const found = jobs.filter(isStuck).map(({ queue, why, jobs: due, late, seconds }): Finding => {
    const count = isDeclared(queue) ? late : due
    const isUnknown = why === 'late' && !isDeclared(queue)
    const reason = !works ? 'idle' : isUnknown ? 'unknown' : why
    const { code, because, remedy } = REASONS[reason]
    const since = reason === 'lost' ? 'Lost for' : 'Due for up to'
    const what = `${since} ${durationOf(seconds)}: ${count} ${nameOf(queue, count)}.`
    return { code, what: because === undefined ? what : `${what} ${because}`, remedy }
  })
  return [
    ...found,
    ...work.map(({ id, queue, seconds }): Finding => ({
      code: 'WORK_STUCK',
      what: `The redrive, recovery or deletion ${id} of ${nameOf(queue)} has made no progress for ${durationOf(seconds)}.`,
      remedy: 'Start a host that runs jobs, and look into its log for "work on many jobs".',
    })),
  ]
}

/** Why due jobs are not run. */
const REASONS = {
  idle: {
    code: 'NO_WORKERS',
    because: 'No live process runs jobs.',
    remedy: 'Start a host, without the option worker: { enabled: false }.',
  },
  lost: {
    code: 'JOBS_LOST',
    because: 'The processes that ran them have ended, and no live process has taken them back.',
    remedy: 'Start a host that has this subscription.',
  },
  restricted: {
    code: 'WEBHOOKS_TOO_SLOW',
    because: 'The webhooks have an order, a rate or a number of attempts at a time.',
    remedy: 'Raise or lift ordered, rateLimit or maxInFlight of these webhooks.',
  },
  circuit: {
    code: 'RECEIVERS_FAIL',
    because: 'The last attempts at the webhooks failed, and few are tried at a time.',
    remedy: 'Ask the receivers, or deactivate these webhooks.',
  },
  late: {
    code: 'JOBS_LATE',
    because: undefined,
    remedy: 'Start more processes, or raise the option worker.concurrency.',
  },
  unknown: {
    code: 'NO_HANDLER',
    because: 'No live process has this subscription.',
    remedy: 'Start a host that subscribes, or end it with svc.events.unsubscribe.',
  },
}

const DELIVERIES = '__svc.webhooks.deliver'
const SUBSCRIPTION = '__svc.sub/'

const inWords = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

const nameOf = (queue: string, count?: number): string =>
  queue === DELIVERIES
    ? `${count === 1 ? 'delivery' : 'deliveries'} to webhooks`
    : `${count === 1 ? 'event' : 'events'} for the subscription "${queue.replace(SUBSCRIPTION, '')}"`

const durationOf = (seconds: number): string =>
  seconds < 100
    ? inWords(seconds, 'second')
    : seconds < 3600
      ? inWords(Math.round(seconds / 60), 'minute')
      : `${(seconds / 3600).toFixed(1)} hours`

const factsOf = ({ processes, queues, paused, failingWebhooks }: HostFacts) => ({
  processes: processes.length,
  deadLetters: queues.reduce((sum, { dead }) => sum + dead, 0),
  paused,
  failingWebhooks: failingWebhooks?.count,
})

function report(context: Context, findings: Finding[], facts: object): void {
  for (const { code, what, remedy } of findings) {
    context.out(`${context.style('red', code)}  ${what}`)
    context.out(`  ${context.style('green', 'remedy')}  ${remedy}`)
  }
  const { server, processes, deadLetters, paused, failingWebhooks, deadOfDay } = facts as {
    server?: ServerFacts
    deadOfDay?: Stuck['deadOfDay']
  } & Partial<ReturnType<typeof factsOf>>
  const warning = context.style('yellow', 'warning')
  for (const { queue, recipient, letters } of deadOfDay ?? []) {
    const target = queue === DELIVERIES ? recipient : queue.replace(SUBSCRIPTION, '')
    context.out(
      `${warning}  ${inWords(letters, 'dead letter')} of the last day. Where their cause has ended: npx svc redrive ${target}`,
    )
  }
  const lines = [
    server &&
      `Postgres ${server.version}${server.citus === null ? '' : `, Citus ${server.citus}`}${server.pooler ? ', behind a pooler' : ''}`,
    processes !== undefined && inWords(processes, 'live process', 'live processes'),
    deadLetters !== undefined && inWords(deadLetters, 'dead letter'),
    failingWebhooks !== undefined && inWords(failingWebhooks, 'failing webhook'),
    ...(paused ?? []).map(
      ({ scope, tenant, subscription, since }) =>
        `paused since ${since}: ${subscription ?? tenant ?? scope}`,
    ),
  ]
  for (const line of lines) if (line) context.out(context.style('dim', line))
  if (findings.length === 0) context.out(context.style('green', 'nothing to do'))
}
