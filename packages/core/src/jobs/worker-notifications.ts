/** Notifications about queues between the processes on a database, by LISTEN and NOTIFY. */
import type { Notifications } from '../postgres/notifications.ts'
import { Timer } from '../time.ts'

/** There are new jobs in the queue that a notification names. */
export const WAKE_CHANNEL = 'svc.wake'
const RECIPIENTS_CHANNEL = 'svc.recipients'
/** There are jobs aside of the recipients that a notification names; without any: jobs of all kinds. */
const RESTRICTED_CHANNEL = 'svc.restricted'
/** Recipients that one notification names: Postgres takes less than 8000 bytes. */
const MOST_NAMED = 100
/** Other processes hear that often of a recipient whose next job is claimed here, should that not happen. */
const CLAIMED_HERE_EVERY_MS = 1000
/** Wakes of the same moment share a NOTIFY: it takes a lock over the whole cluster at its commit. */
const DEBOUNCE_MS = 3

interface Listeners {
  /** Whether this process claims the next job of the recipient itself. */
  claimsNext: (queue: string, recipient: string) => boolean
  wake: (queue: string, recipients?: readonly string[] | null) => void
  recipientsChanged: (queue: string) => void
}

export class WorkerNotifications {
  #notifications: Notifications
  #pending = new Map<string, Set<string>>()
  /** Recipients with jobs aside, by queue; `null`: there are jobs of all kinds. */
  #ready = new Map<string, Set<string> | null>()
  #timer = new Timer(() => this.#send())
  #claimsNext: Listeners['claimsNext'] = () => false
  /** When a notification named a restricted recipient, by queue and recipient; only of the last second. */
  #namedAt = new Map<string, number>()

  constructor(notifications: Notifications) {
    this.#notifications = notifications
  }

  recipientsChanged(queue: string): void {
    this.#sendLater(RECIPIENTS_CHANNEL, queue)
  }

  /** Of recipients whose next job this process claims itself a notification is sent only once a second. */
  wake(queue: string, recipients?: readonly string[] | null): void {
    if (recipients === undefined) return this.#sendLater(WAKE_CHANNEL, queue)
    const known = this.#ready.get(queue)
    if (known === null) return
    const named = recipients?.filter((recipient) => this.#isToName(queue, recipient))
    if (named?.length === 0) return
    const all = named && new Set([...(known ?? []), ...named])
    this.#ready.set(queue, all && all.size <= MOST_NAMED ? all : null)
    this.#timer.set(DEBOUNCE_MS)
  }

  /** Calls back for the notifications of other processes. */
  listen({ claimsNext, wake, recipientsChanged }: Listeners): void {
    this.#claimsNext = claimsNext
    this.#notifications.listen(WAKE_CHANNEL, (queue, fromHere) => {
      if (!fromHere) wake(queue)
    })
    this.#notifications.listen(RECIPIENTS_CHANNEL, (queue, fromHere) => {
      if (!fromHere) recipientsChanged(queue)
    })
    this.#notifications.listen(RESTRICTED_CHANNEL, (payload, fromHere) => {
      const [queue = '', ...recipients] = payload.split('\n')
      if (!fromHere) wake(queue, recipients.length === 0 ? null : recipients)
    })
  }

  /** Sends the pending notifications first. */
  async close(): Promise<void> {
    this.#timer.clear()
    await this.#send()
  }

  #sendLater(channel: string, queue: string): void {
    const queues = this.#pending.get(channel) ?? new Set()
    this.#pending.set(channel, queues.add(queue))
    this.#timer.set(DEBOUNCE_MS)
  }

  async #send(): Promise<void> {
    const pending = [...this.#pending]
    for (const [queue, recipients] of this.#ready) {
      pending.push([RESTRICTED_CHANNEL, new Set([[queue, ...(recipients ?? [])].join('\n')])])
    }
    this.#pending.clear()
    this.#ready.clear()
    await Promise.all(
      pending.flatMap(([channel, payloads]) =>
        [...payloads].map((payload) => this.#notifications.send(channel, payload)),
      ),
    )
  }

  #isToName(queue: string, recipient: string): boolean {
    const now = performance.now()
    for (const [key, at] of this.#namedAt) {
      if (now - at < CLAIMED_HERE_EVERY_MS) break
      this.#namedAt.delete(key)
    }
    const key = `${queue}\n${recipient}`
    if (this.#namedAt.has(key) && this.#claimsNext(queue, recipient)) return false
    this.#namedAt.delete(key)
    this.#namedAt.set(key, now)
    return true
  }
}
