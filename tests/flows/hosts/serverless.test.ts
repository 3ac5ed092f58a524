import t from 'tap'
import { LEASE_SECONDS } from '../../../packages/core/src/processes/processes-table.ts'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { folderOf, runProgram } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { recipe } from './support/page.ts'
import { wholeHost } from '../../support/whole-host.ts'
import { openReceiver } from '../../support/receiver.ts'

const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'

t.test(
  'a function that was frozen for longer than a lease goes on, and loses nothing',
  async (t) => {
    const database = await emptyDatabase(t)
    const partner = await openReceiver(t)
    const worker = await wholeHost(t, { database })
    await worker.ready()
    const { auth, webhooks } = worker.svc
    await webhooks.register({ url: partner.url, events: ['order.created'] })
    const { id: userId } = await auth.createUser({ email: 'a@b.co', name: 'A' })
    const [lasting, revoked] = [
      await auth.createApiKey({ userId }),
      await auth.createApiKey({ userId }),
    ]

    // In place of the platform: one invocation for each line.
    const platform = `
    import { createInterface } from 'node:readline'
    import { handler } from './serverless.ts'
    console.log('ready')
    for await (const line of createInterface(process.stdin)) {
      const [key, id] = line.split(' ')
      const { statusCode } = await handler({
        rawPath: '/orders',
        rawQueryString: '',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ id: Number(id) }),
        isBase64Encoded: false,
        requestContext: { http: { method: 'POST', sourceIp: '127.0.0.1' } },
      })
      console.log('answer', id, statusCode)
    }`
    const folder = await folderOf(t, {
      'serverless.ts': recipe('serverless.ts'),
      'app.ts': platform,
    })
    const program = runProgram(t, folder, 'app.ts', { DATABASE_URL: database, BOOTSTRAP_KEY })
    await program.says(/ready/)
    let ids = 0
    /** A request that a platform repeats where the answer is a 503. */
    const invoke = async (key: string): Promise<number> => {
      const id = ++ids
      program.write(`${key} ${id}\n`)
      const [, status] = await program.says(new RegExp(`answer ${id} (\\d+)`))
      return status === '503' ? invoke(key) : Number(status)
    }
    const processes = async () => {
      const { rows } = await worker.svc.database.query<{ silent: number }>(
        'select max(extract(epoch from now() - renewed_at))::float as silent from svc."__svc.processes" where closed_at is null',
      )
      return rows[0]!.silent
    }

    t.equal(await invoke(lasting.key), 200)
    t.equal(await invoke(revoked.key), 200)
    program.signal('SIGSTOP')
    await partner.waitFor(2)
    await auth.revokeApiKey(revoked.id)
    await until(async () => (await processes()) > LEASE_SECONDS + 1 || undefined)
    program.signal('SIGCONT')
    t.equal(await invoke(revoked.key), 401, 'the cache of before is not trusted')
    t.equal(await invoke(lasting.key), 200)
    await partner.waitFor(3)
    t.equal(partner.received.length, 3, 'each once')
  },
)
