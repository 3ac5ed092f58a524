/** Notifications about queues between the processes on a database, by LISTEN and NOTIFY. */
import type { Notifications } from '../postgres/notifications.ts'

const WAKE_CHANNEL = 'svc.wake'
const GROUPS_CHANNEL = 'svc.groups'
const RESTRICTED_CHANNEL = 'svc.restricted'
/** Groups that one notification names: Postgres takes less than 8000 bytes. */
const MOST_NAMED = 100
/** Other processes hear that often of a group whose next job is claimed here, should that not happen. */
const CLAIMED_HERE_EVERY_MS = 1000
/** Wakes of the same moment share a NOTIFY: it takes a lock over the whole cluster at its commit. */
const DEBOUNCE_MS = 3

interface Listeners {
  /** Whether this process will claim the next job of the group itself. */
  claimsNext: (queue: string, group: string) => boolean
  wake: (queue: string) => void
  groupsReady: (queue: string, groups: readonly string[] | null) => void
  groupsChanged: (queue: string) => void
}

export class WorkerNotifications {
  #notifications: Notifications
  #pending = new Map<string, Set<string>>()
  /** Groups with jobs to claim, by queue; `null`: any restricted one. */
  #ready = new Map<string, Set<string> | null>()
  #timer: NodeJS.Timeout | undefined
  #claimsNext: Listeners['claimsNext'] = () => false
  /** When a notification named a restricted group, by queue and group; only of the last second. */
  #namedAt = new Map<string, number>()

  constructor(notifications: Notifications) {
    this.#notifications = notifications
  }

  wake(queue: string): void {
    this.#sendLater(WAKE_CHANNEL, queue)
  }

  groupsChanged(queue: string): void {
    this.#sendLater(GROUPS_CHANNEL, queue)
  }

  /**
   * There are jobs to claim of these groups; `null`: of any restricted one. About those that this process works
   * on by then a notification is sent only once a second.
   */
  groupsReady(queue: string, groups: readonly string[] | null): void {
    const known = this.#ready.get(queue)
    if (known === null) return
    const all = groups && new Set([...(known ?? []), ...groups])
    this.#ready.set(queue, all && all.size <= MOST_NAMED ? all : null)
    this.#sendSoon()
  }

  /** Calls back for the notifications of other processes. */
  listen({ claimsNext, wake, groupsReady, groupsChanged }: Listeners): void {
    this.#claimsNext = claimsNext
    this.#notifications.listen(WAKE_CHANNEL, (queue, fromHere) => {
      if (!fromHere) wake(queue)
    })
    this.#notifications.listen(GROUPS_CHANNEL, (queue, fromHere) => {
      if (!fromHere) groupsChanged(queue)
    })
    this.#notifications.listen(RESTRICTED_CHANNEL, (payload, fromHere) => {
      const [queue = '', ...groups] = payload.split('\n')
      if (!fromHere) groupsReady(queue, groups.length === 0 ? null : groups)
    })
  }

  /** Sends the pending notifications first. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#send()
  }

  #sendLater(channel: string, queue: string): void {
    const queues = this.#pending.get(channel) ?? new Set()
    this.#pending.set(channel, queues.add(queue))
    this.#sendSoon()
  }

  #sendSoon(): void {
    this.#timer ??= setTimeout(() => void this.#send(), DEBOUNCE_MS)
    this.#timer.unref()
  }

  async #send(): Promise<void> {
    this.#timer = undefined
    const pending = [...this.#pending]
    for (const [queue, groups] of this.#ready) {
      const named = [...(groups ?? [])].filter((group) => this.#isToName(queue, group))
      if (groups !== null && named.length === 0) continue
      pending.push([RESTRICTED_CHANNEL, new Set([[queue, ...named].join('\n')])])
    }
    this.#pending.clear()
    this.#ready.clear()
    await Promise.all(
      pending.flatMap(([channel, payloads]) =>
        [...payloads].map((payload) => this.#notifications.send(channel, payload)),
      ),
    )
  }

  #isToName(queue: string, group: string): boolean {
    const now = performance.now()
    for (const [key, at] of this.#namedAt) {
      if (now - at < CLAIMED_HERE_EVERY_MS) break
      this.#namedAt.delete(key)
    }
    const key = `${queue}\n${group}`
    if (this.#namedAt.has(key) && this.#claimsNext(queue, group)) return false
    this.#namedAt.delete(key)
    this.#namedAt.set(key, now)
    return true
  }
}
