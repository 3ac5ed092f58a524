/**
 * The programs with which the guides of the site begin, run unchanged. Those of one folder run in one process,
 * since most of the time of a start is reading the packages.
 */
import { createHmac } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { folderOf, freePort, runProgram, type Program } from '../../../support/program.ts'

const DOCS = join(import.meta.dirname, '../../../../docs')
export const ENVIRONMENT = {
  BOOTSTRAP_KEY: 'at-least-16-characters',
  GITHUB_SECRET: 'a secret of the test',
  ACME_SECRET: 'a secret of the test',
  ZOOM_SECRET_TOKEN: 'a secret of the test',
  STRIPE_acme: 'whsec_a-secret-of-the-test',
}

/** Programs that other tests run, since they need more than a database. */
const ELSEWHERE = new Set([
  'import-keys.ts',
  'register-auth.ts',
  'import-unkey.ts',
  'import-better-auth.ts',
  'receiver.ts',
  'orders.test.ts',
  'reader.ts',
  'main.ts',
])

type Answer = { status: number; body: any } // oxlint-disable-line typescript/no-explicit-any
export type Ask = (path: string, body?: object, key?: string | null) => Promise<Answer>

/** What a program does beyond its start, by its name. */
export type Checks = Record<
  string,
  (t: Test, ask: Ask, program: Program, at: string) => Promise<void>
>

/** The programs of a page. */
export function programsIn(page: string): Record<string, string> {
  const blocks = readFileSync(page, 'utf8').matchAll(/```ts\n(\/\/ (\S+\.ts)[:,] .*?)```/gs)
  return Object.fromEntries(Array.from(blocks, ([, program = '', name = '']) => [name, program]))
}

/** The programs of a folder of `docs` by their names, which their first lines have. */
export function programsOf(folder: string): Record<string, string> {
  const programs: Record<string, string> = {}
  for (const page of globSync('*.md', { cwd: join(DOCS, folder) }).toSorted()) {
    for (const [name, program] of Object.entries(programsIn(join(DOCS, folder, page)))) {
      if (name in programs) throw new Error(`two programs of ${folder} are called ${name}`)
      programs[name] = program
    }
  }
  return programs
}

export function testGuides(folder: string, checks: Checks): void {
  t.test(`the programs of ${folder} start, and do what their guides say`, async (t) => {
    const programs = Object.fromEntries(
      Object.entries(programsOf(folder)).filter(([name]) => !ELSEWHERE.has(name)),
    )
    t.same(
      Object.keys(checks).filter((name) => !(name in programs)),
      [],
      'each check is of a program that there is',
    )
    const { process, at } = await start(t, programs)
    for (const name of Object.keys(programs)) {
      await t.test(name, async (t) => {
        await process.says(new RegExp(`has started: ${name.replaceAll('.', '\\.')}`))
        await checks[name]?.(t, askAt(at(name)), process, at(name))
      })
    }
  })
}

export const hmacOf = (text: string) =>
  createHmac('sha256', 'a secret of the test').update(text).digest('hex')

/** Keys with these fields, of a new user. */
export async function keysOf(ask: Ask, ...fields: object[]): Promise<string[]> {
  const { body: user } = await ask('/_auth/users', { email: 'ada@example.com', name: 'Ada' })
  const keys = []
  for (const one of fields) keys.push((await ask(`/_auth/users/${user.id}/keys`, one)).body.key)
  return keys
}

export function askAt(at: string): Ask {
  return async (path, body, key = ENVIRONMENT.BOOTSTRAP_KEY) => {
    const answer = await fetch(at + path, {
      headers: {
        ...(key === null ? {} : { 'x-api-key': key }),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') === true
    return { status: answer.status, body: isJson ? JSON.parse(text) : text }
  }
}

/** Starts programs in one process, each with a database and a port of its own. */
export async function start(t: Test, programs: Record<string, string>) {
  const environments: Record<string, { DATABASE_URL: string; PORT: string }> = {}
  // A port is drawn, so two programs can get the same one.
  const ports = new Set<string>()
  while (ports.size < Object.keys(programs).length) ports.add(await freePort())
  for (const [at, name] of Object.keys(programs).entries()) {
    environments[name] = { DATABASE_URL: await freshDatabase(t), PORT: [...ports][at]! }
  }
  const all = `for (const [name, environment] of Object.entries(${JSON.stringify(environments)})) {
    Object.assign(process.env, environment)
    await import('./' + name)
    console.log('has started: ' + name)
  }`
  const folder = await folderOf(t, { ...programs, 'all.ts': all })
  const process = runProgram(t, folder, 'all.ts', ENVIRONMENT)
  const at = (name: string) => `http://127.0.0.1:${environments[name]!.PORT}`
  return { process, at }
}
