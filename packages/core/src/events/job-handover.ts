/**
 * Hands the jobs that a publish has claimed for this process to the workers, once the publish is
 * committed: they start at once.
 */
import type { Job } from '../jobs/job.ts'
import type { WorkerRegistry } from '../jobs/worker-registry.ts'
import type { JobOffer } from './publish-statement.ts'
import type { Published } from './published.ts'
import type { UndecidedFilters } from './undecided-filters.ts'
import { together, type WaitingJobs } from './waiting-jobs.ts'

type Workers = Pick<
  WorkerRegistry,
  'room' | 'beginCommitted' | 'beginIfCommitted' | 'wake' | 'groupsReady'
>

export class JobHandover {
  #workers: Workers
  /** The name under which the jobs have the process that claimed them. */
  #owner: () => string | null
  #undecided: UndecidedFilters

  constructor(workers: Workers, owner: () => string | null, undecided: UndecidedFilters) {
    this.#workers = workers
    this.#owner = owner
    this.#undecided = undecided
  }

  /** The jobs that this process can start now. */
  offer(): JobOffer | undefined {
    const { room, fullGroups } = this.#workers.room()
    return room.size === 0 ? undefined : { owner: this.#owner(), room, fullGroups }
  }

  committed({ claimed, waiting, unreadable }: Omit<Published, 'results'>): void {
    this.#undecided.found(unreadable)
    for (const [queue, jobs] of claimed) this.#workers.beginCommitted(queue, jobs)
    this.wake(waiting)
  }

  /** The caller may have rolled back to a savepoint: of the claimed jobs those begin that exist. */
  committedByCaller(published: Published[]): void {
    const claimed = new Map<string, Job[]>()
    for (const one of published) {
      this.#undecided.found(one.unreadable)
      for (const [queue, jobs] of one.claimed) {
        claimed.set(queue, [...(claimed.get(queue) ?? []), ...jobs.map(withUnknownRecipient)])
      }
    }
    for (const [queue, jobs] of claimed) this.#workers.beginIfCommitted(queue, jobs)
    this.wake(together(published.map(({ waiting }) => waiting)))
  }

  /** These jobs wait, and their transaction is committed. */
  wake({ queues, restricted }: WaitingJobs): void {
    for (const queue of queues) this.#workers.wake(queue)
    for (const [queue, groups] of restricted) this.#workers.groupsReady(queue, groups)
  }
}

/** What was true when the statement ran may have changed before the commit: a webhook was paused. */
const withUnknownRecipient = ({ recipient: _, ...job }: Job): Job => job
