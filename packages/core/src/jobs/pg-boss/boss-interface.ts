import type { EventEmitter } from 'node:events'
import type * as spy from 'pg-boss/dist/spy.js'
import type * as boss from 'pg-boss/dist/types.js'

/**
 * A started pg-boss, method by method as its class `PgBoss` declares them. Declared again here,
 * because the declarations of that class import names which its package does not ship: a host that
 * checks its dependencies' declarations (`skipLibCheck: false`) would not compile. The types of
 * arguments and results are pg-boss's own; their two modules are complete. Where the type of the
 * class is required, cast with `svc.jobs as PgBoss`.
 */
export interface Jobs extends EventEmitter<boss.PgBossEventMap> {
  start(): Promise<this>
  stop(options?: boss.StopOptions): Promise<void>
  send(request: boss.Request): Promise<string | null>
  send(name: string, data?: object | null, options?: boss.SendOptions): Promise<string | null>
  sendAfter(
    name: string,
    data: object | null,
    options: boss.SendOptions | null,
    date: Date,
  ): Promise<string | null>
  sendAfter(
    name: string,
    data: object | null,
    options: boss.SendOptions | null,
    dateString: string,
  ): Promise<string | null>
  sendAfter(
    name: string,
    data: object | null,
    options: boss.SendOptions | null,
    seconds: number,
  ): Promise<string | null>
  sendThrottled(
    name: string,
    data: object | null,
    options: boss.SendOptions | null,
    seconds: number,
    key?: string,
  ): Promise<string | null>
  update(request: boss.UpdateRequest): Promise<boss.UpdateResponse>
  update(
    name: string,
    data: object | null | undefined,
    options?: boss.UpdateOptions,
  ): Promise<boss.UpdateResponse>
  upsert(request: boss.UpdateRequest): Promise<boss.UpsertResponse>
  upsert(
    name: string,
    data: object | null | undefined,
    options?: boss.UpdateOptions,
  ): Promise<boss.UpsertResponse>
  sendDebounced(
    name: string,
    data: object | null,
    options: boss.SendOptions | null,
    seconds: number,
    key?: string,
  ): Promise<string | null>
  insert(
    name: string,
    jobs: boss.JobInsert[],
    options?: boss.InsertOptions,
  ): Promise<string[] | null>
  flow(jobs: boss.FlowJob[], options?: boss.ConnectionOptions): Promise<Record<string, string>>
  fetch<T>(
    name: string,
    options: boss.FetchOptions & {
      includeMetadata: true
    },
  ): Promise<boss.JobWithMetadata<T>[]>
  fetch<T>(name: string, options?: boss.FetchOptions): Promise<boss.Job<T>[]>
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
  notifyWorker(workerId: string): void
  subscribe(event: string, name: string): Promise<void>
  unsubscribe(event: string, name: string): Promise<void>
  publish(event: string, data?: object, options?: boss.SendOptions): Promise<void>
  cancel(
    name: string,
    id: string | string[] | boss.JobAttempt | boss.JobAttempt[],
    options?: boss.ConnectionOptions,
  ): Promise<boss.CommandResponse>
  resume(
    name: string,
    id: string | string[],
    options?: boss.ConnectionOptions,
  ): Promise<boss.CommandResponse>
  retry(
    name: string,
    id: string | string[],
    options?: boss.ConnectionOptions,
  ): Promise<boss.CommandResponse>
  deleteJob(
    name: string,
    id: string | string[] | boss.JobAttempt | boss.JobAttempt[],
    options?: boss.ConnectionOptions,
  ): Promise<boss.CommandResponse>
  redrive(name: string, options?: boss.RedriveOptions): Promise<number>
  previewRedrive(name: string, options?: boss.RedriveFilter): Promise<boss.RedrivePreview>
  deleteQueuedJobs(name: string): Promise<void>
  deleteStoredJobs(name: string): Promise<void>
  deleteAllJobs(name?: string): Promise<void>
  complete(
    name: string,
    id: string | string[] | boss.JobAttempt | boss.JobAttempt[],
    data?: object | null,
    options?: boss.CompleteOptions,
  ): Promise<boss.CommandResponse>
  fail(
    name: string,
    id: string | string[] | boss.JobAttempt | boss.JobAttempt[],
    data?: object | null,
    options?: boss.ConnectionOptions,
  ): Promise<boss.CommandResponse>
  touch(
    name: string,
    id: string | string[] | boss.JobAttempt | boss.JobAttempt[],
    options?: boss.ConnectionOptions,
  ): Promise<boss.CommandResponse>
  /** @deprecated Use `findJobs`. */
  getJobById<T>(
    name: string,
    id: string,
    options?: boss.ConnectionOptions,
  ): Promise<boss.JobWithMetadata<T> | null>
  findJobs<T>(name: string, options?: boss.FindJobsOptions): Promise<boss.JobWithMetadata<T>[]>
  createQueue(name: string, options?: Omit<boss.Queue, 'name'>): Promise<void>
  getBlockedKeys(name: string): Promise<string[]>
  getDependencies(
    name: string,
    id: string,
    options?: boss.ConnectionOptions,
  ): Promise<boss.DependencyRef[]>
  getDependents(
    name: string,
    id: string,
    options?: boss.ConnectionOptions,
  ): Promise<boss.DependencyRef[]>
  updateQueue(name: string, options?: boss.UpdateQueueOptions): Promise<void>
  deleteQueue(name: string): Promise<void>
  getQueues(names?: string[]): Promise<boss.QueueResult[]>
  getQueue(name: string): Promise<boss.QueueResult | null>
  getQueueStats(name: string, options?: boss.QueueStatsOptions): Promise<boss.QueueStats[]>
  isMaintaining(): boolean
  isBamWorking(): boolean
  isResolvingFlow(): boolean
  isCheckingSkew(): boolean
  isTimekeeping(): boolean
  supervise(name?: string, options?: boss.SuperviseOptions): Promise<void>
  getReindexCommands(options?: boss.ReindexOptions): Promise<string[]>
  resolveFlow(): Promise<void>
  getWipData(options?: { includeInternal?: boolean }): boss.WipData[]
  getSpy<T = object>(name: string): spy.JobSpyInterface<T>
  clearSpies(): void
  isInstalled(): Promise<boolean>
  schemaVersion(): Promise<number | null>
  detectSchemaDrift(): Promise<boss.SchemaDriftReport>
  schedule(
    name: string,
    cron: string,
    data?: object | null,
    options?: boss.ScheduleOptions,
  ): Promise<void>
  unschedule(name: string, key?: string): Promise<void>
  getSchedules(name?: string, key?: string): Promise<boss.Schedule[]>
  getSchedule(name: string, key?: string): Promise<boss.Schedule | null>
  previewSchedule(cron: string, options?: boss.PreviewScheduleOptions): Date[]
  getBamStatus(): Promise<boss.BamStatusSummary[]>
  getBamEntries(): Promise<boss.BamEntry[]>
  getDb(): boss.IDatabase
}
