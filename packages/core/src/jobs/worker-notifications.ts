/** Notifications about queues between the processes on a database, by LISTEN and NOTIFY. */
import type { Notifications } from '../postgres/notifications.ts'

const WAKE_CHANNEL = 'svc.wake'
const GROUPS_CHANNEL = 'svc.groups'
/** Wakes of the same moment share a NOTIFY: it takes a lock over the whole cluster at its commit. */
const DEBOUNCE_MS = 3

interface Listeners {
  wake: (queue: string) => void
  groupsChanged: (queue: string) => void
}

export class WorkerNotifications {
  #notifications: Notifications
  #pending = new Map<string, Set<string>>()
  #timer: NodeJS.Timeout | undefined

  constructor(notifications: Notifications) {
    this.#notifications = notifications
  }

  wake(queue: string): void {
    this.#sendLater(WAKE_CHANNEL, queue)
  }

  groupsChanged(queue: string): void {
    this.#sendLater(GROUPS_CHANNEL, queue)
  }

  /** Calls back for the notifications of other processes. */
  listen({ wake, groupsChanged }: Listeners): void {
    this.#notifications.listen(WAKE_CHANNEL, (queue, fromHere) => {
      if (!fromHere) wake(queue)
    })
    this.#notifications.listen(GROUPS_CHANNEL, (queue, fromHere) => {
      if (!fromHere) groupsChanged(queue)
    })
  }

  /** The last notifications still go out. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#send()
  }

  #sendLater(channel: string, queue: string): void {
    const queues = this.#pending.get(channel) ?? new Set()
    this.#pending.set(channel, queues.add(queue))
    this.#timer ??= setTimeout(() => void this.#send(), DEBOUNCE_MS)
    this.#timer.unref()
  }

  async #send(): Promise<void> {
    this.#timer = undefined
    const pending = [...this.#pending]
    this.#pending.clear()
    await Promise.all(
      pending.flatMap(([channel, queues]) =>
        [...queues].map((queue) => this.#notifications.send(channel, queue)),
      ),
    )
  }
}
