#!/usr/bin/env node
import '../node-version.ts'
import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), process.env, {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
})
