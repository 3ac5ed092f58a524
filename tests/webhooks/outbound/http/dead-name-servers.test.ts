import type { LookupAddress } from 'node:dns'
import t from 'tap'
import {
  createResolver,
  type Lookup,
} from '../../../../packages/webhooks/src/outbound/http/resolver.ts'

const SECOND = 1000
const TIMEOUT_MS = 10 * SECOND
const FOUND: LookupAddress[] = [{ address: '192.0.2.1', family: 4 }]

/** Time that passes when all is done that can be done at its moment. */
class SimulatedTime {
  now = 0
  readonly #due: { at: number; run: () => void }[] = []

  after(ms: number, run: () => void): void {
    this.#due.push({ at: this.now + ms, run })
  }

  wait(ms: number): Promise<void> {
    return new Promise((run) => this.after(ms, run))
  }

  async runUntil(end: number): Promise<void> {
    for (;;) {
      await new Promise(setImmediate)
      this.#due.sort((a, b) => a.at - b.at)
      if (this.#due.length === 0 || this.#due[0]!.at > end) return
      const { at, run } = this.#due.shift()!
      this.now = at
      run()
    }
  }
}

/** The system's resolver on libuv's pool: two lookups at a time, the others in the order of asking. */
function systemResolver(time: SimulatedTime): Lookup {
  const queue: (() => void)[] = []
  let free = 2
  const next = () => {
    if (free === 0) return
    const run = queue.shift()
    if (run === undefined) return
    free--
    run()
  }
  return (hostname, _options, callback) => {
    const isDead = hostname.startsWith('dead')
    queue.push(() =>
      time.after(isDead ? 12 * SECOND : 5, () => {
        if (isDead) callback(Object.assign(new Error(), { code: 'EAI_AGAIN' }), [])
        else callback(null, FOUND)
        free++
        next()
      }),
    )
    next()
  }
}

for (const dead of [0, 4, 50]) {
  t.test(
    `${dead} names with dead name servers fail no live name, from a cold start on`,
    async (t) => {
      const time = new SimulatedTime()
      const lookup = systemResolver(time)
      const answers = async (hostname: string) => {
        const isDead = hostname.startsWith('dead')
        await time.wait(isDead ? 7.5 * SECOND : 20)
        return !isDead
      }
      const resolve = createResolver(TIMEOUT_MS, lookup, answers, () => time.now)
      const took = async (answer: Promise<unknown>) => {
        const since = time.now
        const late = time.wait(TIMEOUT_MS).then(() => TIMEOUT_MS)
        return await Promise.race([
          answer.then(
            () => time.now - since,
            () => TIMEOUT_MS,
          ),
          late,
        ])
      }

      // At each dead endpoint a delivery is under way at any time.
      const retried = async (hostname: string) => {
        while (time.now < 60 * SECOND) {
          if ((await took(resolve(hostname))) < TIMEOUT_MS) t.fail('a dead name was found')
        }
      }
      const deadOnes = Array.from({ length: dead }, (_, i) => retried(`dead${i}.test`))

      // Names that the process has not seen, five a second; beside them the application's own lookups.
      const live: Promise<number>[] = []
      const applications: Promise<number>[] = []
      for (let i = 0; i < 200; i++) {
        time.after(i * 200, () => {
          live.push(took(resolve(`live${i}.test`)))
          applications.push(
            took(new Promise<void>((found) => lookup('db.test', { all: true }, () => found()))),
          )
        })
      }
      await time.runUntil(100 * SECOND)
      await Promise.all(deadOnes)

      t.equal(live.length, 200)
      t.ok(Math.max(...(await Promise.all(live))) <= 50, 'resolved as soon as the servers answered')
      t.ok(Math.max(...(await Promise.all(applications))) <= 50, 'a thread was free for others')
    },
  )
}
