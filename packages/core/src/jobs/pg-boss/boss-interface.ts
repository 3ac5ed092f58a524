import type { EventEmitter } from 'node:events'
import type * as boss from 'pg-boss/dist/types.js'

/** One job or several, by their ids or as they were fetched. */
type Which = string | string[] | boss.JobAttempt | boss.JobAttempt[]

/**
 * What a host uses of the started pg-boss, for queues of its own. The types of arguments and results are
 * pg-boss's. The declarations of its class import names which its package does not ship, so a host that
 * checks the declarations of its dependencies (`skipLibCheck: false`) would not compile with them. For its
 * other methods, cast with `svc.jobs as PgBoss`.
 */
export interface Jobs extends EventEmitter<boss.PgBossEventMap> {
  createQueue(name: string, options?: Omit<boss.Queue, 'name'>): Promise<void>
  updateQueue(name: string, options?: boss.UpdateQueueOptions): Promise<void>
  deleteQueue(name: string): Promise<void>
  getQueue(name: string): Promise<boss.QueueResult | null>
  getQueues(names?: string[]): Promise<boss.QueueResult[]>
  send(request: boss.Request): Promise<string | null>
  send(name: string, data?: object | null, options?: boss.SendOptions): Promise<string | null>
  sendAfter(
    name: string,
    data: object | null,
    options: boss.SendOptions | null,
    /** A number is in seconds. */
    when: Date | string | number,
  ): Promise<string | null>
  insert(
    name: string,
    jobs: boss.JobInsert[],
    options?: boss.InsertOptions,
  ): Promise<string[] | null>
  work<ReqData, ResData = unknown>(
    name: string,
    handler: boss.WorkHandler<ReqData, ResData>,
  ): Promise<string>
  work<ReqData, ResData = unknown, const O extends boss.WorkOptions = boss.WorkOptions>(
    name: string,
    options: O,
    handler: boss.WorkHandlerFor<O, ReqData, ResData>,
  ): Promise<string>
  offWork(name: string, options?: boss.OffWorkOptions): Promise<void>
  fetch<T>(
    name: string,
    options: boss.FetchOptions & { includeMetadata: true },
  ): Promise<boss.JobWithMetadata<T>[]>
  fetch<T>(name: string, options?: boss.FetchOptions): Promise<boss.Job<T>[]>
  findJobs<T>(name: string, options?: boss.FindJobsOptions): Promise<boss.JobWithMetadata<T>[]>
  complete(
    name: string,
    which: Which,
    data?: object | null,
    options?: boss.CompleteOptions,
  ): Promise<boss.CommandResponse>
  fail(
    name: string,
    which: Which,
    data?: object | null,
    options?: boss.ConnectionOptions,
  ): Promise<boss.CommandResponse>
  cancel(
    name: string,
    which: Which,
    options?: boss.ConnectionOptions,
  ): Promise<boss.CommandResponse>
  retry(
    name: string,
    id: string | string[],
    options?: boss.ConnectionOptions,
  ): Promise<boss.CommandResponse>
  deleteJob(
    name: string,
    which: Which,
    options?: boss.ConnectionOptions,
  ): Promise<boss.CommandResponse>
  /** Of a dead-letter queue: its jobs go back to where they came from. */
  redrive(name: string, options?: boss.RedriveOptions): Promise<number>
  deleteQueuedJobs(name: string): Promise<void>
  supervise(name?: string, options?: boss.SuperviseOptions): Promise<void>
  stop(options?: boss.StopOptions): Promise<void>
}
