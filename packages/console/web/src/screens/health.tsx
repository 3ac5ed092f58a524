import type { Health } from '../server/contract.ts'
import { mayPass } from '../server/call.ts'
import { useCall } from '../state/queries.ts'
import { count, duration, plural, span } from '../text/format.ts'
import { Button } from '../ui/button.tsx'
import { Badge, Facts } from '../ui/facts.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Answered, Empty, Note } from '../ui/notes.tsx'
import { Table } from '../ui/table.tsx'
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
    </Screen>
  )
}

const HealthPanels = ({
  health: { ok, database, listener, queues, paused },
}: {
  health: Health
}) => {
  const dead = queues.reduce((sum, queue) => sum + queue.dead, 0)
  return (
    <>
      {ok ? (
        <Note kind={dead > 0 ? 'warn' : 'ok'}>
          {dead > 0
            ? `The host is well. ${plural(dead, 'dead letter')} in its queues ${dead === 1 ? 'waits' : 'wait'} for somebody.`
            : 'All is well.'}
        </Note>
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
  queue === '__svc.webhooks.deliver' ? 'Deliveries to webhooks' : queue
