// @svc/providers needs no Node: the same program judges all vectors in several runtimes.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const program = root('tests/providers/judged-vectors.ts')

const RUNTIMES: Record<string, string[]> = {
  Node: [process.execPath],
  Deno: [
    root('tests/node_modules/.bin/deno'),
    'run',
    '-A',
    '--node-modules-dir=manual',
    '--no-lock',
  ],
}

interface Judged {
  runtime: string
  judged: number
  wrong: string[]
}

for (const [name, [command = '', ...args]] of Object.entries(RUNTIMES)) {
  t.test(`in ${name} genuine requests are verified and forged ones refused`, async (t) => {
    // tap gives every process of Node below it a loader.
    const { NODE_OPTIONS: _, ...env } = process.env
    const { stdout, stderr } = spawnSync(command, [...args, program], {
      encoding: 'utf8',
      env: { ...env, DENO_DIR: t.testdir(), DENO_NO_UPDATE_CHECK: '1' },
    })
    t.match(stdout, /^\{"runtime":"/, stderr)
    const { runtime, judged, wrong } = JSON.parse(stdout) as Judged
    t.strictSame(wrong, [])
    t.ok(judged > 200)
    t.equal(runtime, name)
  })
}
