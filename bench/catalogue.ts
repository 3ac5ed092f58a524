import type { Benchmark } from './benchmark.ts'
import { guardColdKeys } from './guard/cold-keys.ts'
import { guardCpu } from './guard/cpu.ts'
import { guardFlood } from './guard/flood.ts'
import { guardLatency } from './guard/latency.ts'
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
]
