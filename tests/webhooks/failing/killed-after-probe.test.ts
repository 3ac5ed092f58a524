import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openReceiver } from '../../support/receiver.ts'
import t from 'tap'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { isIdle } from './support/scene.ts'

t.test(
  'a webhook is resumed although its process is killed just after the only delivery was taken',
  async (t) => {
    const publisher = await startHost(t, {
      core: { worker: { enabled: false, maxAttempts: 1000 } },
    })
    const { app, ask, register, database } = publisher
    const child = fork(join(import.meta.dirname, 'probing-process.ts'), [database])
    t.teardown(() => child.kill('SIGKILL'))
    await once(child, 'message')
    const receiver = await openReceiver(t, { answer: 500 })
    const { id } = await register(receiver.url)
    await app.svc.events.publish('order.created', { n: 1 })
    await until(async () => (await ask('GET', `/${id}`)).body.active === false)
    // From now on each attempt is a probe.
    await until(() => isIdle(publisher, id))
    await app.svc.events.publish('order.created', { n: 'missed' })

    // One statement, and so one moment: the delivery is done only when the webhook is active again.
    const moment = async () => {
      const { rows } = await app.svc.database.query(
        `select active, exists (select from svc_jobs.job where group_id = webhook.id::text) as waits
           from svc."__svc.webhooks.registrations" as webhook where id = $1`,
        [id],
      )
      return rows[0] as { active: boolean; waits: boolean }
    }
    t.match(await moment(), { active: false, waits: true })
    receiver.answer(200)
    const { active } = await until(moment, ({ active, waits }) => active || !waits)
    child.kill('SIGKILL')
    t.equal(active, true)
    await once(child, 'exit')
    t.match((await ask('GET', `/${id}`)).body, { active: true, disabledReason: null })

    await startHost(t, { database })
    await until(() => receiver.received.some(({ raw }) => raw.includes('missed')))
  },
)
