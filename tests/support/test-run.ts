/** One run of the tests: a server, and a template of which the tests' databases are clones. */
export interface TestRun {
  /** Connection string to a database from which others can be created. */
  server: string
  /** The same of the workers of a cluster of Citus, whose coordinator the server is; else none. */
  workers: string[]
  /** What the names of all its databases begin with. */
  name: string
  /** The template of databases without a table of ours. */
  empty: string
  template: string
}

/** The environment variable by which `run.ts` tells test files which run they are part of. */
export const RUN_VARIABLE = 'SVC_TEST_RUN'

let own: Promise<TestRun> | undefined

/** The run of this test file. A file that was started without `run.ts` is a run of its own. */
export function currentRun(): Promise<TestRun> {
  const given = process.env[RUN_VARIABLE]
  if (given) return Promise.resolve(JSON.parse(given) as TestRun)
  return (own ??= ownRun())
}

async function ownRun(): Promise<TestRun> {
  const [{ default: t }, { startRun }] = await Promise.all([
    import('tap'),
    import('./start-run.ts'), // loads all plugins, which a test file should not pay for
  ])
  const { run, end } = await startRun()
  t.teardown(end)
  return run
}
