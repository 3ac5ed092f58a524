import type { Health } from '../server/contract.ts'
import { mayPass } from '../server/call.ts'
import { useSession } from '../shell/session.ts'
import { useCall } from '../state/queries.ts'
import { href } from '../state/router.ts'
import { count, duration, plural, span } from '../text/format.ts'
import { Button, Link } from '../ui/button.tsx'
import { Badge, Facts, Id } from '../ui/facts.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Answered, Empty, Loading, Note } from '../ui/notes.tsx'
import { Table } from '../ui/table.tsx'
import { numbered } from './overview/attention.tsx'
import { Pauses } from './pauses.tsx'

export function HealthScreen() {
  const answer = useCall('health.get', {})
  return (
    <Screen
      title="Health"
      about="The database, and the queues of this host."
      actions={<Button onClick={answer.reload}>Check again</Button>}
    >
      {answer.problem && mayPass(answer.problem) && (
        <Note kind="bad">
          <b>{answer.problem.statusCode === 0 ? 'The host' : 'The database'} does not answer. </b>
          {answer.problem.statusCode === 0
            ? 'Check that it runs, and that this page reaches it.'
            : 'Check that Postgres runs, and that its connections are not used up.'}
        </Note>
      )}
      <Answered of={answer}>{(health) => <HealthPanels health={health} />}</Answered>
      {/* What comes above it would move it. */}
      <div hidden={answer.loading}>
        <Processes />
      </div>
    </Screen>
  )
}

/** All is well only where nothing waits for somebody. */
function Verdict({ health: { queues, paused } }: { health: Health }) {
  const { session, may } = useSession()
  const sees = session.features.webhooks && may('webhooks:read')
  const failing = useCall('webhooks.count', sees ? { state: 'failing' } : null)
  const disabled = useCall('webhooks.count', sees ? { state: 'disabled' } : null)
  if (failing.loading || disabled.loading) return <Loading like="note" />
  const dead = queues.reduce((sum, queue) => sum + queue.dead, 0)
  const [fail, ended] = [failing.data, disabled.data]
  const faults = [
    fail && fail.count > 0 && (
      <Link
        to={href('webhooks', { state: 'failing' })}
      >{`Failing webhooks: ${numbered(fail)}.`}</Link>
    ),
    ended && ended.count > 0 && (
      <Link to={href('webhooks', { state: 'disabled' })}>
        {`Disabled webhooks: ${numbered(ended)}.`}
      </Link>
    ),
    dead > 0 && `Dead letters: ${count(dead)}.`,
    paused.length > 0 && `Pauses: ${count(paused.length)}.`,
    sees && !(fail && ended) && 'Its webhooks could not be counted.',
  ].filter(Boolean)
  if (faults.length === 0) return <Note kind="ok">All is well.</Note>
  return (
    <Note kind="warn">
      The host is well, but not all that it does.
      {faults.map((fault) => (
        <> {fault}</>
      ))}
    </Note>
  )
}

const HealthPanels = ({ health }: { health: Health }) => {
  const { ok, database, listener, queues, paused } = health
  return (
    <>
      {ok ? (
        <Verdict health={health} />
      ) : (
        <Note kind="bad">
          {database.ok
            ? 'The host gets no notifications: deliveries and revocations of other processes come late.'
            : 'The database does not answer: check that Postgres runs and that its connections are not used up.'}
        </Note>
      )}
      <Panel>
        <Facts
          rows={[
            [
              'Database',
              <Badge tone={database.ok ? 'ok' : 'bad'}>
                {database.ok ? 'Answers' : 'Does not answer'}
              </Badge>,
            ],
            ['Its latency', duration(database.latencyMs)],
            [
              'Listener',
              <Badge tone={listener.ok ? 'ok' : 'bad'}>
                {listener.ok ? 'Connected' : 'Not connected'}
              </Badge>,
            ],
          ]}
        />
      </Panel>
      <Pauses paused={paused} />
      <Panel title="Queues" flush>
        {queues.length === 0 ? (
          <Empty title="No queues">This host has no subscriptions and no webhooks.</Empty>
        ) : (
          <Table
            label="Queues"
            rows={queues}
            id={({ queue }) => queue}
            columns={[
              {
                name: 'Queue',
                kind: 'main',
                bare: true,
                cell: ({ queue }) => <bdi class="main-line">{queueName(queue)}</bdi>,
              },
              { name: 'Waiting', kind: 'end', cell: ({ waiting }) => count(waiting) },
              { name: 'Under way', kind: 'end', cell: ({ active }) => count(active) },
              {
                name: 'Oldest',
                kind: 'end',
                cell: ({ oldestSeconds, waiting, active }) =>
                  oldestSeconds === null || waiting + active === 0 ? '–' : span(oldestSeconds),
              },
              {
                name: 'Dead',
                kind: 'end',
                cell: ({ dead }) => (dead > 0 ? <Badge tone="bad">{count(dead)}</Badge> : '0'),
              },
            ]}
          />
        )}
      </Panel>
    </>
  )
}

/** Our own queues have names of ours. */
const queueName = (queue: string): string =>
  queue === '__svc.webhooks.deliver' ? 'Deliveries' : queue

const KEPT: Record<string, string> = {
  eventRetentionDays: 'Events',
  deliveryLogRetentionDays: 'Deliveries',
  deadLetterRetentionDays: 'Dead letters',
  inboundLogRetentionDays: 'Inbound requests',
  auditRetentionDays: 'The audit',
}

/** Of other versions and options, perhaps: the longest retention of all of them counts. */
function Processes() {
  const answer = useCall('health.processes', {})
  // The note above says so.
  if (!answer.data && answer.problem && mayPass(answer.problem)) return null
  return (
    <Answered of={answer} quietly>
      {({ items, days }) => (
        <>
          <Panel title="Processes" flush>
            <Table
              label="Processes"
              rows={items}
              columns={[
                {
                  name: 'Process',
                  kind: 'main',
                  bare: true,
                  cell: ({ id, isThis }) => (
                    <span class="heading-facts">
                      <Id id={id} what="process id" />
                      {isThis && <Badge tone="ok">This one</Badge>}
                    </span>
                  ),
                },
                { name: 'Version', cell: ({ version }) => version ?? '–' },
                { name: 'Node', cell: ({ node }) => node ?? '–' },
                {
                  name: 'Delivers',
                  cell: ({ works }) => (works === null ? '–' : works ? 'yes' : 'no'),
                },
                {
                  name: 'Runs for',
                  kind: 'end',
                  cell: ({ seconds, silentSeconds }) =>
                    silentSeconds > 0 ? (
                      <Badge tone="bad">{`Silent for ${span(silentSeconds)}`}</Badge>
                    ) : (
                      span(seconds)
                    ),
                },
              ]}
            />
          </Panel>
          <Panel title="Kept for">
            <Facts
              rows={Object.entries(KEPT).map(([setting, name]) => [
                name,
                days[setting] && plural(days[setting], 'day'),
              ])}
            />
          </Panel>
        </>
      )}
    </Answered>
  )
}
