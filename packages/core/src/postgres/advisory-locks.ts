/**
 * The numbers of all advisory locks of `@svc/core` and the packages on it. They are shared by all
 * processes on a schema, of all versions: a number never changes. Statements name them in their texts,
 * where those of another schema are put in: see schema-names.ts.
 */
export const ADVISORY_LOCKS = {
  /** Tables are made or changed. */
  migrations: 7_763_001,
  /** The number that the SQL of `@svc/webhooks` names for the partitions of its delivery log. */
  deliveryLogPartitions: 7_763_002,
  /** Partitions of the delivery log are made or dropped in the background. */
  deliveryLogMaintenance: 7_763_003,
  /** A process declares or drops events of subscriptions. */
  declarations: 7_763_004,
  /** Not a lock itself: the locks of processes are hashes of their ids, with this number as the seed. */
  processes: 7_763_005,
  /** Indexes and a trigger are added to pg-boss's tables of jobs. */
  jobTables: 7_763_006,
  /** The first half of the locks of tenants, in `@svc/webhooks`; the second is a hash of the tenant. */
  tenants: 7_763_007,
  /** The first half of the locks of tenants whose keys are counted, in `@svc/auth`. */
  keysOfTenants: 7_763_008,
  /**
   * The first half of the shared locks of transactions that have taken positions in the feed, in core's SQL; the
   * second is that of a number below them.
   */
  feedPositions: 7_763_009,
  /** The first half of the locks of recipients whose jobs are recovered; the second is a hash of the recipient. */
  recoveries: 7_763_020,
  /** Recent attempts are rolled up into the statistics of `@svc/webhooks`. */
  webhookStats: 7_763_021,
} as const
