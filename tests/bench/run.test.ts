import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'

const main = join(import.meta.dirname, '../../bench/main.ts')
const bench = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(process.execPath, [main, ...args], { env: { ...process.env, ...env } })

/** Hooks of modules: those of Node 22.19 refuse each module of CommonJS. */
const skip =
  Number(process.versions.node.split('.')[0]) < 24 &&
  'a copy of the packages needs Node 24 or later'

t.test(
  'a benchmark runs to its end, beside another checkout, and writes its samples',
  async (t) => {
    const json = join(t.testdir(), 'bench.json')
    const root = join(import.meta.dirname, '../..')
    const { stderr } = await bench(['subscribe', '--quick', '--beside', root, '--json', json], {
      DATABASE_URL: await freshDatabase(t),
    })
    t.notMatch(stderr, '!!')
    const { benchmarks } = JSON.parse(await readFile(json, 'utf8'))
    const [{ rows }] = benchmarks[0].findings
    t.match(rows[0], { name: 'handler of 0 ms, 10 at a time, other checkout', samples: [Number] })
    t.match(rows[1], { name: 'handler of 0 ms, 10 at a time', against: rows[0].name })
    t.ok(rows.every(({ samples: [rate] }: { samples: number[] }) => rate! > 0))
  },
)

t.test('the list names every benchmark, and an unknown one ends with an error', async (t) => {
  t.match((await bench(['--list'])).stdout, /^guard-cpu .+\n[\s\S]+memory-soak /)
  await t.rejects(bench(['gard']), /There is no benchmark "gard"/)
})

t.test(
  'a copy of the packages has its own modules, and one asks for telemetry again',
  { skip },
  async (t) => {
    const root = new URL('../../', import.meta.url)
    const modules = ['events/publish', 'events/publish-sql', 'jobs/pump/attempts']
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      `const { importCopy } = await import('${new URL('bench/copies.ts', root)}')
     const guardOf = async (copy) =>
       (await importCopy('${new URL('packages/auth/src/guard/guard.ts', root)}', copy)).createGuard
     const [again, whole] = [await guardOf('again'), await guardOf('whole')]
     console.log(again === whole, await guardOf('again') === again)
     for (const guard of [again, whole]) console.log(/NONE\\[i\\] !== null/.test(guard))
     for (const name of ${JSON.stringify(modules)}) {
       await importCopy('${new URL('packages/core/src/', root)}' + name + '.ts', 'again')
     }`,
    ])
    t.equal(stdout, 'false true\ntrue\nfalse\n')
  },
)

t.test('copies of the guard take turns in one process', { skip }, async (t) => {
  const json = join(t.testdir(), 'bench.json')
  const { stderr } = await bench(['guard-telemetry', '--quick', '--json', json], {
    DATABASE_URL: await freshDatabase(t),
  })
  t.notMatch(stderr, '!!')
  const [{ findings }] = JSON.parse(await readFile(json, 'utf8')).benchmarks
  t.equal(findings[0].rows.length, 3)
  // A slice of a quick run may be shorter than a tick of the clock: its CPU time is 0 then.
  for (const { samples } of findings[0].rows) {
    t.ok(samples.length === 1 && Number.isFinite(samples[0]), 'one figure each')
  }
})
