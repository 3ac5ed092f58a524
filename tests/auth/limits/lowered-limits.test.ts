import t from 'tap'
import { until } from '../../support/until.ts'
import { startHost, withMe, type KeyInput } from '../support/host.ts'

const DAY = 86_400
const lowered: Record<string, [KeyInput, KeyInput]> = {
  quota: [{ quota: { limit: 1000, period: 'total' } }, { quota: { limit: 60, period: 'total' } }],
  limit: [
    { limits: [{ limit: 1000, perSeconds: DAY }] },
    { limits: [{ limit: 60, perSeconds: DAY }] },
  ],
}

for (const [name, [high, low]] of Object.entries(lowered)) {
  t.test(`a lowered ${name} holds for what processes held of the higher one`, async (t) => {
    const first = await startHost(t, { after: withMe })
    const second = await startHost(t, { after: withMe, database: first.database })
    const hosts = [first, second]
    const { key, id } = await first.makeKey(high)
    const other = await first.makeKey()
    for (const host of hosts) t.equal((await host.ask('GET', '/me', other)).status, 200)
    const pass = async () => {
      const answers = await Promise.all(hosts.map((host) => host.ask('GET', '/me', { key })))
      return answers.filter(({ status }) => status === 200).length
    }
    let passed = 0
    for (let n = 0; n < 25; n++) passed += await pass()
    t.equal(passed, 50, 'both hold some ahead of need by now')

    t.equal((await first.ask('PATCH', `/_auth/keys/${id}`, { body: low })).status, 200)
    // A process that refuses the other key knows of the change before it. Until then it would admit
    // requests under the former limit.
    await first.ask('DELETE', `/_auth/keys/${other.id}`)
    for (const host of hosts) {
      await until(async () => (await host.ask('GET', '/me', other)).status === 401)
      const { status, headers } = await host.ask('GET', '/me', { key })
      if (status === 200) passed++
      t.match(headers['ratelimit-policy'], 'q=60')
    }
    // What one process gives back, the other one gets at its next request for more.
    await until(async () => (passed += await pass()) >= 60)
    for (let n = 0; n < 10; n++) passed += await pass()
    t.equal(passed, 60)
  })
}
