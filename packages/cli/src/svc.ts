#!/usr/bin/env node
import '@svc/core/node-version'
import { run } from './program.ts'

// Such warnings are for who writes a host, not for who runs a command.
process.noDeprecation = true

const stop = new AbortController()
let isInterrupted = false
// A verb that waits ends at once. Others undo what they have begun: Postgres does it where that takes longer.
const UNDONE_WITHIN_MS = 2000
process.once('SIGINT', () => {
  isInterrupted = true
  stop.abort()
  setTimeout(() => process.exit(0), UNDONE_WITHIN_MS).unref()
})
// The reader of a pipe has ended, such as `head`: what was found keeps its exit code.
process.stdout.on('error', () => stop.abort())
// What it says there is for people alone.
process.stderr.on('error', () => {})

const exitCode = await run(process.argv.slice(2), {
  env: process.env,
  folder: process.cwd(),
  signal: stop.signal,
  stdout: process.stdout,
  stderr: process.stderr,
})
process.exitCode = isInterrupted ? 0 : exitCode
