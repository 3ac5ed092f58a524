// The benchmarks: `pnpm bench` runs them all, `pnpm bench <name>` some. See docs/benchmarks.md.
import { mkdir, writeFile } from 'node:fs/promises'
import { chosen, HELP, parseArguments, type Arguments } from './arguments.ts'
import type { Benchmark } from './benchmark.ts'
import { benchmarks } from './catalogue.ts'
import { describeMachine } from './machine.ts'
import { profiling } from './processes/process.ts'
import { asJson, asMarkdown, type Report } from './report/document.ts'
import { tableText } from './report/table.ts'
import { runBenchmark } from './run.ts'

try {
  await main(parseArguments(process.argv.slice(2)))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

async function main(args: Arguments): Promise<void> {
  if (args.help) return console.log(HELP)
  const wanted = chosen(benchmarks, args.names)
  if (args.list) return list(wanted)
  if (args.profile !== undefined) {
    await mkdir(args.profile, { recursive: true })
    profiling.folder = args.profile
  }
  const report: Report = {
    startedAt: new Date().toISOString(),
    machine: await describeMachine(),
    benchmarks: [],
  }
  for (const [name, value] of Object.entries(report.machine)) console.log(`${name}: ${value}`)
  for (const benchmark of wanted) {
    await runOne(benchmark, args, report)
    // After each: what was measured survives what goes wrong later.
    if (args.json !== undefined) await writeFile(args.json, asJson(report))
    if (args.markdown !== undefined) await writeFile(args.markdown, asMarkdown(report))
  }
}

async function runOne(benchmark: Benchmark, args: Arguments, report: Report): Promise<void> {
  console.log(`\n== ${benchmark.name}: ${benchmark.title}`)
  try {
    const outcome = await runBenchmark(benchmark, {
      ...args,
      tell: (text) => console.error(`   ${benchmark.name}: ${text}`),
    })
    const { findings, seconds, postgres, statements } = outcome
    const { name, title } = benchmark
    report.benchmarks.push({ name, title, seconds, postgres, findings })
    console.log(
      Object.entries(postgres)
        .map(([key, value]) => `${key} ${value}`)
        .join(', '),
    )
    for (const finding of findings) console.log(`\n${tableText(finding)}`)
    if (statements !== undefined) console.log(`\n${statements}`)
    console.log(`\n(${Math.round(seconds)} s)`)
  } catch (error) {
    console.error(`!! ${benchmark.name}: ${(error as Error).stack}`)
    process.exitCode = 1
  }
}

function list(wanted: Benchmark[]): void {
  for (const { name, title } of wanted) console.log(`${name.padEnd(22)} ${title}`)
}
