import { code, table } from './declarations.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

export interface LogLine {
  level: Level
  /** As the code has them; `…` at the end stands for the rest. */
  messages: string[]
  meaning: string
  /** What an operator does. */
  todo: string
}

const line = (
  level: Level,
  messages: string | string[],
  meaning: string,
  todo: string,
): LogLine => ({
  level,
  messages: [messages].flat(),
  meaning,
  todo,
})

const NOTHING = 'Nothing.'
const IF_IT_LASTS = 'Nothing, if it ends within a minute. Else look at Postgres.'
const ROW = 'Ask Postgres why: `err` has its error. Report it, if the table is unchanged.'

/** Of each package: its lines in the order in which they are mostly met. */
export const LOG_LINES: Record<string, LogLine[]> = {
  '@svc/core': [
    line(
      'warn',
      'connection to Postgres lost',
      'A connection of the pool broke. The pool opens another one.',
      IF_IT_LASTS,
    ),
    line(
      'warn',
      'Postgres refuses writes at the moment; what is refused is tried again, or its caller gets an error',
      'Its disk is full, or it is a standby. `err` has its words.',
      'Make room on the disk, or let the primary come back.',
    ),
    line(
      'warn',
      'no host of the list of the database takes writes; waiting 30 seconds for one',
      'A boot during a failover. `err` has the answer of each host.',
      'Nothing, if the boot goes on. Else look at the hosts of the list.',
    ),
    line(
      'info',
      'the database is the coordinator of a Citus cluster',
      'At boot. `version` is that of Citus.',
      'Nothing. See [Citus](../operate/engines.md#citus).',
    ),
    line(
      'debug',
      'LISTEN connection lost, falling back to polling',
      'Jobs of other processes start later, until the connection is made again.',
      NOTHING,
    ),
    line(
      'warn',
      'boot waits for another process that makes or changes tables',
      '`heldBy` names the session.',
      'Wait. End that session if nothing needs it.',
    ),
    line(
      'warn',
      'migration waits for a lock: …',
      'The fields name the migration and the session that holds the lock.',
      'End the session, or wait: it tries for ten minutes.',
    ),
    line(
      'info',
      'looking for what a package lacks',
      '`svc migrate` works, and makes what it finds.',
      NOTHING,
    ),
    line(
      'warn',
      '@svc/core is loaded twice…',
      'Errors of one copy are no instances of the classes of the other.',
      'Let the package manager install it once.',
    ),
    line(
      'warn',
      'another application uses the same tables…',
      '`others` are the names of the applications, `schema` that of the tables.',
      'See [Two applications in one database](../operate/postgres.md#two-applications-in-one-database).',
    ),
    line(
      'warn',
      ['a secret begins or ends with white space…', 'a secret is nothing but white space…'],
      '`secret` names it.',
      'Store the secret without white space.',
    ),
    line(
      'warn',
      'could not take the advisory lock of this process; it tries again',
      'Until then, its jobs are taken back 20 seconds after its death.',
      IF_IT_LASTS,
    ),
    line(
      'warn',
      'could not renew the lease of this process; it tries again',
      'If it lasts, other processes take its jobs and drop what it declared.',
      IF_IT_LASTS,
    ),
    line(
      'warn',
      'a process died; its jobs run again in other processes',
      '`jobs` of the process `processId` were taken back.',
      'Look for why it died: memory, a crash, a `kill -9` by the platform.',
    ),
    line(
      'warn',
      'the answers to claims of jobs were lost, or their outcomes could not be recorded; the jobs run again',
      '`jobs` of this process, `processId`, were taken back.',
      IF_IT_LASTS,
    ),
    line(
      'error',
      'could not fetch jobs; it tries again',
      'No job of `queue` starts. It ends with the info line `fetching jobs works again`.',
      IF_IT_LASTS,
    ),
    line('info', 'fetching jobs works again', 'The end of the line above.', NOTHING),
    line(
      'error',
      'could not read what a batch of jobs needs; its jobs are postponed',
      'For deliveries: their webhooks and payloads.',
      IF_IT_LASTS,
    ),
    line(
      'error',
      'could not read what a job needs; it is postponed',
      'A fault in a row of `jobId`. No attempt is used up for a week.',
      ROW,
    ),
    line(
      'error',
      'could not start claimed jobs; they are given back',
      'Postgres was unreachable after a commit. No attempt is used up.',
      IF_IT_LASTS,
    ),
    line(
      'error',
      'could not record the outcomes of jobs; it tries again',
      'The attempts were made. Their outcomes wait in memory.',
      IF_IT_LASTS,
    ),
    line(
      'error',
      'could not record the outcome of a job; it will run again',
      'The attempt of the job may be repeated.',
      ROW,
    ),
    line(
      'error',
      'Postgres refused the rows that record outcomes of jobs; the jobs are settled without them',
      '`jobs` attempts have no row in the log, nor in the statistics.',
      ROW,
    ),
    line(
      'error',
      'an attempt threw an error; it counts as failed',
      'A fault in a worker. `jobId` names the job.',
      'Report it, with `err`.',
    ),
    line(
      'error',
      'subscription handler failed',
      '`err` is what the handler threw. `isLastAttempt` tells whether a dead letter follows.',
      'Repair the handler. Then `npx svc redrive <subscription>`.',
    ),
    line(
      'error',
      'the event of a job was not found; the job is cancelled',
      'The event was deleted while its job waited.',
      'Raise `eventRetentionDays` if jobs wait for so long.',
    ),
    line(
      'warn',
      'a part of the schema of an event is ignored',
      '`problem` names the `format` in the schema of `event` that is not known.',
      'Take it out of the schema, or spell it right.',
    ),
    line(
      'warn',
      'a payload does not match the schema of its event',
      'With the validation set to `warn`. The event was published.',
      'Repair the payload or the schema.',
    ),
    line(
      'warn',
      [
        'this version cannot read the filter of a webhook…',
        'the filter of a webhook takes too many steps…',
      ],
      '`recipient` is the webhook. Once an hour for each.',
      'Update this host, or set a filter with fewer conditions.',
    ),
    line(
      'warn',
      [
        'could not read the feed; it tries again',
        'could not note that readers of the feed wait in this process; it tries again',
      ],
      'Readers that wait get their events later.',
      IF_IT_LASTS,
    ),
    line(
      'warn',
      ['a queue is paused: no attempt begins', 'a tenant is paused: no attempt for it begins'],
      'An operator has stopped it. `reason` and `since` are in the line.',
      'Resume it when the reason is gone: `npx svc resume`.',
    ),
    line(
      'info',
      ['a queue is not paused any more', 'a tenant is not paused any more'],
      'An operator has resumed it.',
      NOTHING,
    ),
    line(
      'warn',
      'could not read which queues are paused; it tries again',
      'Pauses hold as last read. It is logged once, until a read succeeds.',
      IF_IT_LASTS,
    ),
    line(
      'info',
      'which queues are paused is known again',
      'The end of the line above. `failures` is the number of reads that failed.',
      NOTHING,
    ),
    line(
      'info',
      ['a recovery is running', 'a recovery has finished'],
      '`done` of `deliveries` of the webhook `recipient` are queued. The first line comes at most every 30 seconds.',
      NOTHING,
    ),
    line(
      'error',
      'a portion of work on jobs failed; it is tried again, others go on',
      'Of a recovery, a redrive or a deletion (`what`). It is tried again after `againInMs`, which doubles up to ten minutes.',
      'Read `err`. Most often a lock of another session is held for too long.',
    ),
    line(
      'error',
      [
        'could not carry out work on jobs; a periodic task tries again',
        'could not move the waiting jobs of a recipient; it tries again',
      ],
      'Jobs of a webhook wait longer than they should.',
      IF_IT_LASTS,
    ),
    line(
      'error',
      'a periodic task failed; it is tried again',
      '`task` names it, `failures` says how many in a row, `err` is the last error.',
      'Read `err`. After three failures `svc.health()` has `tasks.ok: false`.',
    ),
    line('info', 'a periodic task works again', 'The end of the line above.', NOTHING),
    line(
      'warn',
      'periodic tasks wait for the database',
      'There is no connection, or the database only reads. One task looks each five seconds whether it is back.',
      IF_IT_LASTS,
    ),
    line(
      'info',
      'periodic tasks go on',
      'The end of the line above. Those that waited run within five seconds.',
      NOTHING,
    ),
    line(
      'info',
      ['erasing a tenant', 'tenant erased'],
      '`erased` has the numbers of rows by kind.',
      NOTHING,
    ),
    line(
      'error',
      'shutdown step failed',
      '`step` names it. The other steps of `app.close()` run.',
      NOTHING,
    ),
    line(
      'error',
      ['database unavailable', 'database busy', 'management request failed'],
      'A management route answered with a 503, or another 5xx. Busy: a lock was held for too long.',
      'Look at Postgres. See [the runbook](../operate/runbook.md).',
    ),
    line(
      'error',
      'the option errorBody failed; the default error body was sent',
      '`err` is what the function threw.',
      'Repair the function.',
    ),
    line(
      'warn',
      ['pg-boss error', 'pg-boss warning'],
      'pg-boss reports a failure of its own upkeep.',
      IF_IT_LASTS,
    ),
  ],
  '@svc/auth': [
    line(
      'info',
      'key refused',
      'A 401, 403, 429 or 503 of the guard; warn where `verdict` is `unavailable`. `verdict` says why, `keyId` and `userId` which key.',
      'Nothing. Look for it when a client complains.',
    ),
    line(
      'info',
      [
        'key created',
        'key rotated',
        'key revoked',
        'key changed',
        'keys imported',
        'user created',
        'user deleted',
      ],
      'Keys or users were changed. The field `by` names the actor, and the audit has the change.',
      NOTHING,
    ),
    line(
      'warn',
      'leaked key revoked',
      'GitHub found `keyId` in public: `url` says where. `replacedBy` is its successor.',
      'Tell the owner of the key.',
    ),
    line(
      'warn',
      'could not read key changes; cached keys are not trusted until it works',
      'Requests get a 503. It ends with `reading key changes works again`.',
      'Look at Postgres: see [the runbook](../operate/runbook.md).',
    ),
    line(
      'info',
      [
        'reading key changes works again',
        'getting allowances from Postgres works again',
        'writing the usage of keys works again',
        'writing when keys were last used works again',
      ],
      'The end of an outage.',
      NOTHING,
    ),
    line(
      'warn',
      'could not get allowances from Postgres…',
      'Requests with limited keys get a 503 once the allowances held are spent.',
      IF_IT_LASTS,
    ),
    line(
      'warn',
      ['could not write when keys were last used…', 'could not write the usage of keys…'],
      'The counts stay in memory for the next batch.',
      IF_IT_LASTS,
    ),
    line(
      'warn',
      'the plan of a tenant is not known…',
      '`planOf` threw, was late, or gave no plan of the option `plans`. `reason` says which.',
      'Repair `planOf`, or add the plan.',
    ),
    line(
      'warn',
      'the bootstrap key is off: its secret cannot be used',
      '`reason` says why.',
      'Set a secret of at least 16 characters, or none.',
    ),
    line(
      'warn',
      [
        'could not read the secret of the bootstrap key; it tries again',
        'could not read the secret of the bootstrap key again; the last value stays valid',
      ],
      '`reason` says why.',
      'Repair the option `secrets`.',
    ),
    line(
      'error',
      [
        'the guard threw an error; the request was refused',
        'a request threw an error after it was answered',
      ],
      'A fault. `err` is the error, `reqId` names the request.',
      'Report it, with `err`.',
    ),
    line(
      'warn',
      [
        'excludePaths has no effect on a route with config.scopes: it still needs a key',
        'excludePaths has a management path: a route there without config.scopes needs no key',
        'protectedPaths is empty: only management paths and routes with config.scopes need a key',
      ],
      'At boot. `path` names the route.',
      'Change the option, if you meant something else.',
    ),
    line(
      'warn',
      'a listener for "upgrade" on the server itself…',
      'At boot. WebSocket handshakes there do not pass the guard.',
      'Check keys in the listener, or use `@fastify/websocket`.',
    ),
  ],
  '@svc/webhooks': [
    line(
      'warn',
      'inbound webhook refused',
      'The sender of `source` got a 4xx. `reason` says why.',
      'If it is a real provider: compare the secret and the path.',
    ),
    line(
      'error',
      'inbound webhook failed',
      'The sender of `source` got a 5xx, and should send the request again. `reason` says why.',
      'Read `reason`. Replay what it does not send again.',
    ),
    line(
      'warn',
      'could not write rows of the inbound log; they are lost',
      'The rows are of refused requests. `reason` says why.',
      IF_IT_LASTS,
    ),
    line(
      'warn',
      'the option deduplicationTtlSeconds has no effect without deduplicationKey…',
      'At boot. Requests of `source` are not deduplicated.',
      'Add `deduplicationKey`.',
    ),
    line(
      'warn',
      'inboundTests is on in production…',
      'At boot, with `NODE_ENV=production`. An operator with `admin` can make any event of a source.',
      'Set `inboundTests` to `false` in production.',
    ),
    line(
      'warn',
      'the management routes of webhooks are open to everyone…',
      'At boot. No `@svc/auth` guards the routes under `path`.',
      'Register `svcAuth`, or guard them yourself.',
    ),
    line(
      'warn',
      'svcAuth guards the inbound path …',
      'At boot. Senders of `source` have no API key and would be refused.',
      'List the path in `excludePaths` of `svcAuth`.',
    ),
    line(
      'warn',
      'this host lacks the transform of a webhook…',
      'The deliveries of `webhookId` wait for a host that has `transform`.',
      'Add it to the option `transforms`, or take it from the webhook.',
    ),
    line(
      'warn',
      'the transform of a webhook failed; the attempt counts as failed',
      '`err` is what the function `transform` threw.',
      'Repair the function.',
    ),
    line(
      'error',
      'could not decrypt the secrets of a webhook; its deliveries are postponed',
      '`err` says why.',
      'Give this host all names of `encryption.secretNames`.',
    ),
    line(
      'warn',
      'the proxy for deliveries failed; deliveries are postponed',
      '`err` says why. At most once a minute.',
      'Repair the proxy. No attempt is used up.',
    ),
    line(
      'error',
      'Postgres refused rows of the delivery log…',
      '`rows` attempts have no row in the log, nor in the statistics. Their deliveries are settled.',
      ROW,
    ),
    line(
      'warn',
      'could not make the next partitions of the delivery log',
      'At boot. Rows go to the default partition. An hourly task tries again.',
      'Check the rights of the role, or run `npx svc migrate`.',
    ),
    line(
      'warn',
      [
        'could not judge failing webhooks; the next failed attempt of each is judged',
        'could not resume a webhook after a successful attempt; it tries again',
        'could not probe a disabled webhook; it is probed again',
      ],
      'The health of webhooks is updated later.',
      IF_IT_LASTS,
    ),
    line(
      'warn',
      'could not write how dear filters of webhooks are; the next evaluation writes it',
      'Filters are evaluated with an older estimate.',
      NOTHING,
    ),
  ],
  '@svc/console': [
    line(
      'debug',
      'the console could not read recent changes; it tries again',
      'Open pages show changes later.',
      NOTHING,
    ),
    line(
      'warn',
      'the option redact failed; the payload is hidden',
      'The console shows no payload of `event`.',
      'Repair the function `redact`.',
    ),
  ],
}

export const logLinesPage = (): string => `# Log lines

Each message is constant, so that you can search for it. The details are in the fields of the line. A failure that repeats is mostly logged once an outage.

${Object.entries(LOG_LINES)
  .map(
    ([title, lines]) =>
      `## ${title}\n\n${table(
        ['level', 'message', 'meaning', 'what to do'],
        lines.map(({ level, messages, meaning, todo }) => [
          level,
          messages.map(code).join('<br>'),
          meaning,
          todo,
        ]),
      )}`,
  )
  .join('\n')}`
