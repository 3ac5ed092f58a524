// The benchmarks: `pnpm bench` runs all, `pnpm bench <name>` some. See bench/RESULTS.md.
import { mkdir, writeFile } from 'node:fs/promises'
import { chosen, HELP, parseArguments, type Arguments } from './arguments.ts'
import type { Benchmark } from './benchmark.ts'
import { deliveryDead } from './delivery/dead.ts'
import { deliveryFairness } from './delivery/fairness.ts'
import { deliveryFanOut } from './delivery/fan-out.ts'
import { deliveryKill } from './delivery/kill.ts'
import { deliveryLatency } from './delivery/latency.ts'
import { deliveryOrdered } from './delivery/ordered.ts'
import { deliveryProcesses } from './delivery/processes.ts'
import { steadyDelivery } from './delivery/steady.ts'
import { deliveryThroughput } from './delivery/throughput.ts'
import { growthBacklog } from './growth/backlog.ts'
import { growthRecovery } from './growth/recovery.ts'
import { growthKeys, guardColdKeys } from './guard/cold-keys.ts'
import { guardCpu } from './guard/cpu.ts'
import { guardLimits, guardManyLimits, guardPlans, guardUsage } from './guard/limits.ts'
import { inboundThroughput } from './inbound/throughput.ts'
import { describeMachine } from './machine.ts'
import { memoryBacklog, memorySoak } from './memory.ts'
import { profiling } from './process.ts'
import { atRest } from './at-rest.ts'
import { publishConcurrent } from './publish/concurrent.ts'
import { publishSettings } from './publish/settings.ts'
import { asJson, asMarkdown, tableText, type Report } from './report.ts'
import { runBenchmark } from './run.ts'
import { deliveryTelemetry, guardTelemetry } from './telemetry.ts'
import { subscribe } from './subscribe.ts'

/** In the order in which they run. */
const benchmarks: Benchmark[] = [
  guardCpu,
  guardColdKeys,
  guardLimits,
  guardManyLimits,
  guardUsage,
  guardPlans,
  guardTelemetry,
  publishConcurrent,
  publishSettings,
  subscribe,
  deliveryThroughput,
  steadyDelivery,
  deliveryLatency,
  deliveryFairness,
  deliveryFanOut,
  deliveryDead,
  deliveryKill,
  deliveryProcesses,
  deliveryTelemetry,
  deliveryOrdered,
  growthBacklog,
  growthRecovery,
  growthKeys,
  inboundThroughput,
  memoryBacklog,
  memorySoak,
  atRest,
]

try {
  await main(parseArguments(process.argv.slice(2)))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

async function main(args: Arguments): Promise<void> {
  if (args.help) return console.log(HELP)
  const wanted = chosen(benchmarks, args.names)
  if (args.list) {
    for (const { name, title } of wanted) console.log(`${name.padEnd(22)} ${title}`)
    return
  }
  if (args.profile !== undefined) {
    await mkdir(args.profile, { recursive: true })
    profiling.folder = args.profile
  }
  const machine = await describeMachine()
  const report: Report = { startedAt: new Date().toISOString(), machine, benchmarks: [] }
  for (const [name, value] of Object.entries(machine)) console.log(`${name}: ${value}`)
  for (const benchmark of wanted) {
    await runOne(benchmark, args, report)
    // After each one: a later failure does not lose what was measured.
    if (args.json !== undefined) await writeFile(args.json, asJson(report))
    if (args.markdown !== undefined) await writeFile(args.markdown, asMarkdown(report))
  }
}

async function runOne(benchmark: Benchmark, args: Arguments, report: Report): Promise<void> {
  const { name, title } = benchmark
  console.log(`\n== ${name}: ${title}`)
  try {
    const { statements, ...measured } = await runBenchmark(benchmark, {
      ...args,
      tell: (text) => console.error(`   ${name}: ${text}`),
    })
    report.benchmarks.push({ name, title, ...measured })
    const settings = Object.entries(measured.postgres).map(([key, value]) => `${key} ${value}`)
    console.log(settings.join(', '))
    for (const finding of measured.findings) console.log(`\n${tableText(finding)}`)
    if (statements !== undefined) console.log(`\n${statements}`)
    console.log(`\n(${Math.round(measured.seconds)} s)`)
  } catch (error) {
    console.error(`!! ${name}: ${(error as Error).stack}`)
    process.exitCode = 1
  }
}
