// A process with one subscription, "work", that says what it is told to do: it writes `start <n>`
// and, for `slow` payloads, never comes to an end; else `done <n>`. Closes at the end of its input, or
// when `closesAfter` jobs are done. It may be in another schema.
import Fastify from 'fastify'
import { svcCore } from '@svc/core'

const [database = '', drainless, closesAfter, schema] = process.argv.slice(2)
let done = 0
const say = (line: string) => process.stdout.write(`${line}\n`)

const app = Fastify({ pluginTimeout: 60_000 })
await app.register(svcCore, {
  database: { connectionString: database, max: 3, connectionTimeoutMillis: 60_000 },
  schema,
  worker: { retryDelaySeconds: 0, maxAttempts: 10 },
})
await app.svc.events.subscribe(
  'work',
  async ({ n, ms = 0 }: { n: number; ms?: number }, { attempt }) => {
    say(`start ${n} ${attempt}`)
    if (ms > 0) {
      await new Promise((resolve) => {
        setTimeout(resolve, ms)
      })
    }
    say(`done ${n} ${attempt}`)
    if (++done === Number(closesAfter)) void app.close()
  },
)
await app.ready()
say('ready')
if (!drainless) process.stdin.on('end', () => void app.close()).resume()
