import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const workflows = globSync('.github/workflows/*.yml', { cwd: ROOT })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))

t.test('each action is pinned to a commit, with its version beside it', async (t) => {
  t.ok(workflows.length >= 5)
  const used = workflows.flatMap(({ file, text }) =>
    // A workflow of this repository is called as it is in the same commit.
    [...text.matchAll(/uses: (?!\.\/)(.*)/g)].map(([, action = '']) => ({ file, action })),
  )
  t.ok(used.length > 20)
  for (const { file, action } of used) {
    t.match(action, /^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, file)
  }
  // One version of each: a second commit of the same name is a mistake.
  for (const name of new Set(used.map(({ action }) => action.split('@')[0]))) {
    const versions = new Set(
      used.map(({ action }) => action).filter((one) => one.startsWith(`${name}@`)),
    )
    t.equal(versions.size, 1, `${name}`)
  }
})

t.test('a workflow may read the repository, and a job says what more it needs', async (t) => {
  for (const { file, text } of workflows) {
    t.match(text, /^permissions:\n {2}contents: read\n\n/m, file)
    const jobs = text
      .slice(text.indexOf('\njobs:'))
      .split(/\n {2}(?=\w[\w-]*:\n)/)
      .slice(1)
    t.ok(jobs.length > 0, file)
    for (const job of jobs.filter((one) => !one.includes('\n    uses: ./')))
      t.match(job, /\n {4}timeout-minutes: \d+\n/, `${file}, ${job.slice(0, 20)}`)
  }
})

t.test('no text that a person chooses becomes part of a script', async (t) => {
  for (const { file, text } of workflows) {
    for (const [script] of text.matchAll(/run: (?:\|\n(?: {10}.*\n|\n)+|.*)/g)) {
      t.notMatch(script, /\$\{\{ *(?:inputs|github\.(?:event|head_ref))/, file)
    }
  }
})

t.test('a release waits for the tests, and what may publish runs no code of others', async (t) => {
  const release = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8')
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    packageManager: string
  }
  for (const [pnpm] of release.matchAll(/pnpm@[\d.]+/g)) t.equal(pnpm, packageManager)
  const jobs = release.split(/\n {2}(?=\w[\w-]*:\n)/)
  const trusted = jobs.filter((job) => job.includes('id-token: write'))
  t.equal(trusted.length, 1)
  t.match(trusted[0], /^publish:\n {4}needs: \[state, tests, tarballs\]\n/)
  t.notMatch(trusted[0], /checkout|pnpm|npx|npm (?:install|ci)|contents: write/)
})
