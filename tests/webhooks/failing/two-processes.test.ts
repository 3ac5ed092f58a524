import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { isIdle } from './support/scene.ts'

t.test(
  'two processes make one probe at a time, and one that is killed stops nothing',
  async (t) => {
    const { app, ask, register, database } = await startHost(t, {
      autoDisable: { failingForSeconds: 1, minAttempts: 2, probeEverySeconds: 0.5 },
      core: { worker: { maxAttempts: 1000 } },
    })
    const child = fork(join(import.meta.dirname, 'probing-process.ts'), [database])
    t.teardown(() => child.kill('SIGKILL'))
    await once(child, 'message')
    const heard: object[] = []
    for (const name of ['svc.webhook.disabled', 'svc.webhook.recovered']) {
      await app.svc.events.subscribe(name, (payload) => {
        heard.push({ name, ...(payload as object) })
      })
    }
    let status = 500
    let underWay = 0
    let mostUnderWay = 0
    const receiver = await openReceiver(t, {
      async answer() {
        mostUnderWay = Math.max(mostUnderWay, ++underWay)
        await pause(200)
        underWay--
        return status
      },
    })
    const { id } = await register(receiver.url)
    const shown = async () => (await ask('GET', `/${id}`)).body
    for (let n = 0; n < 6; n++) await app.svc.events.publish('order.created', { n })
    await until(async () => (await shown()).active === false)
    // Attempts that began before may have been claimed, and not have reached the receiver yet.
    await until(() => isIdle({ app }, id))
    mostUnderWay = 0
    const before = receiver.received.length
    await receiver.waitFor(before + 5)
    t.equal(mostUnderWay, 1)

    child.kill('SIGKILL')
    await once(child, 'exit')
    await receiver.waitFor(receiver.received.length + 2)
    t.equal((await shown()).waiting, 6, 'nothing that waits is lost')
    status = 200
    await until(async () => (await shown()).active)
    await until(async () => (await shown()).waiting === 0)
    await until(() => heard.length === 2)
    t.match(heard, [
      { name: 'svc.webhook.disabled', webhookId: id },
      { name: 'svc.webhook.recovered', webhookId: id, by: 'probe' },
    ])
    const rows = (await ask('GET', `/${id}/deliveries?status=delivered`)).body
    t.same(
      rows.map(({ payload }: { payload: { n: number } }) => payload.n).toSorted(),
      [0, 1, 2, 3, 4, 5],
    )
  },
)
