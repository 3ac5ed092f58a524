import type { Benchmark } from './benchmark.ts'
import { deliveryFairness } from './delivery/fairness.ts'
import { deliveryFanOut } from './delivery/fan-out.ts'
import { deliveryLatency } from './delivery/latency.ts'
import { deliveryThroughput } from './delivery/throughput.ts'
import { deliveryWorkers } from './delivery/workers.ts'
import { growthBacklog } from './growth/backlog.ts'
import { growthDeliveryLog } from './growth/delivery-log.ts'
import { growthKeys } from './growth/keys.ts'
import { growthRegistrations } from './growth/registrations.ts'
import { growthRetries } from './growth/retries.ts'
import { guardColdKeys } from './guard/cold-keys.ts'
import { guardCpu } from './guard/cpu.ts'
import { guardFlood } from './guard/flood.ts'
import { guardLatency } from './guard/latency.ts'
import { inboundThroughput } from './inbound/throughput.ts'
import { memoryBacklog } from './memory/backlog.ts'
import { memorySoak } from './memory/soak.ts'
import { publishConcurrent } from './publish/concurrent.ts'
import { publishInTransaction } from './publish/in-transaction.ts'

/** In the order in which they run. */
export const benchmarks: Benchmark[] = [
  guardCpu,
  guardLatency,
  guardColdKeys,
  guardFlood,
  publishConcurrent,
  publishInTransaction,
  deliveryThroughput,
  deliveryFanOut,
  deliveryLatency,
  deliveryFairness,
  deliveryWorkers,
  growthBacklog,
  growthRetries,
  growthKeys,
  growthRegistrations,
  growthDeliveryLog,
  inboundThroughput,
  memoryBacklog,
  memorySoak,
]
