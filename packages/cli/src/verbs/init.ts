import { glob, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { importLines, PLUGIN_PACKAGES, registerLines } from '../init/app-lines.ts'
import { edited, listens, loadsFastify, type Edit, type LoadsFastify } from '../init/edit-app.ts'
import {
  APP,
  COMPOSE,
  COMPOSE_SERVICE,
  GITIGNORE,
  packageJson,
  VARIABLES,
} from '../init/new-app.ts'
import { ownVersion } from '../installed-versions.ts'
import { DONE, TO_DO, WrongUsage, type AddVerb, type Context, type ExitCode } from '../verb.ts'

const HELP = `
In a folder without source files it makes a small application. In one with an application it finds the
file in which a Fastify instance listens, and adds the plugins before listen(). No file is
overwritten. What it cannot add it prints, and ends with 1.`

export const init: AddVerb = (program, context) => {
  program
    .command('init [folder]')
    .description('adds the plugins to an application, or makes a new one')
    .addHelpText('after', HELP)
    .action(
      context.runs((folder?: string) => addTo(context, resolve(context.folder, folder ?? '.'))),
    )
}

async function addTo(context: Context, folder: string): Promise<ExitCode> {
  const known = await stat(folder).catch(() => undefined)
  if (known && !known.isDirectory()) throw new WrongUsage(`${folder} is a file: give a folder`)
  await mkdir(folder, { recursive: true })
  const work = new Work(context, folder)
  const sources = await sourcesIn(folder)
  const next =
    sources.size === 0
      ? await newApp(work, relative(context.folder, folder))
      : await existingApp(work, sources)
  await variables(work)
  await compose(work)
  for (const line of work.changed ? next : []) context.out(line)
  if (!work.changed && !work.isLacking) context.out('everything is there: nothing was changed')
  return work.isLacking ? TO_DO : DONE
}

/** What was done to the files of a folder, which is said file by file. */
class Work {
  readonly folder: string
  changed = false
  isLacking = false
  #context: Context

  constructor(context: Context, folder: string) {
    this.#context = context
    this.folder = folder
  }

  async textOf(name: string): Promise<string | undefined> {
    return readFile(join(this.folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
  }

  /** Returns whether there was none. */
  async make(name: string, text: string): Promise<boolean> {
    try {
      await writeFile(join(this.folder, name), text, { flag: 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      this.keep(name)
      return false
    }
    this.#did('made  ', name)
    return true
  }

  async change(name: string, text: string, what: string): Promise<void> {
    await writeFile(join(this.folder, name), text)
    this.#did('added ', `${what} to ${name}`)
  }

  keep(name: string): void {
    this.#context.out(`kept   ${name}`)
  }

  /** What is to be added by hand. */
  lacks(why: string, lines: string[]): void {
    this.isLacking = true
    this.#context.out([`to do  ${why}`, '', ...lines, ''].join('\n'))
  }

  #did(what: string, name: string): void {
    this.changed = true
    this.#context.out(`${what} ${name}`)
  }
}

const NO_SOURCES = new Set([
  'node_modules',
  'dist',
  'build',
  'coverage',
  'test',
  'tests',
  '__tests__',
])
const IS_TEST_OR_SETTING = /\.(?:test|spec|config|d)\.[cm]?[jt]s$/

/** The code of the application, by the names of its files. */
async function sourcesIn(folder: string): Promise<Map<string, string>> {
  const sources = new Map<string, string>()
  const isLeftOut = (name: string) => NO_SOURCES.has(basename(name)) || /^\../.test(basename(name))
  for await (const name of glob('**/*.{js,mjs,cjs,ts,mts,cts}', {
    cwd: folder,
    exclude: isLeftOut,
  })) {
    if (IS_TEST_OR_SETTING.test(name)) continue
    sources.set(name, await readFile(join(folder, name), 'utf8'))
  }
  return sources
}

/** Without it, npx would look for a package with the name of the command. */
const INSTALL_COMMAND = '  npm install --save-dev @svc/cli'

/** Returns what the user does next. */
async function existingApp(work: Work, sources: Map<string, string>): Promise<string[]> {
  const next = [
    '',
    'next:',
    `  npm install ${PLUGIN_PACKAGES.join(' ')}`,
    INSTALL_COMMAND,
    '  set the variables of .env.example ("npx svc secret" makes the keys)',
    'Every route needs an API key now, except /health: protectedPaths and excludePaths of svcAuth open others.',
    'The first key: npx svc create-key --email you@example.com --name You --scopes admin',
  ]
  await ignoreSecrets(work)
  const uses = (name: string) =>
    [...sources].find(([, text]) => new RegExp(`['"]${name}['"]`).test(text))?.[0]
  const ours = uses('@svc/nest') ?? PLUGIN_PACKAGES.map(uses).find((name) => name !== undefined)
  if (ours !== undefined) {
    const missing = uses('@svc/nest') ? [] : PLUGIN_PACKAGES.filter((name) => !uses(name))
    if (missing.length === 0) work.keep(ours)
    else {
      const found = edited(sources.get(ours)!, neighboursOf(sources, ours))
      work.lacks(
        `${ours} does not use ${missing.join(' and ')}. Add to it:`,
        byHand(found, missing),
      )
    }
    return next
  }
  const found = [...sources].filter(([name, text]) => listens(text, neighboursOf(sources, name)))
  const [only, another] = found
  if (only && !another) {
    const [name, source] = only
    const edit = edited(source, neighboursOf(sources, name))
    if (edit.text === undefined) {
      work.lacks(`${name} could not be edited: ${edit.reason}. Add to it:`, byHand(edit))
    } else await work.change(name, edit.text, 'the plugins')
  } else if (another) {
    const names = found.map(([name]) => name).join(', ')
    work.lacks(`several files listen (${names}). Add to the one that is your server:`, byHand())
  } else {
    work.lacks(
      'no file with a Fastify instance listens. Add to the file that makes your instance:',
      [
        ...byHand(),
        '',
        '// Without a Fastify server (Express, Hono, scripts), use createSvc of @svc/core.',
      ],
    )
  }
  return next
}

/** A path without its ending, or with that of what TypeScript makes, or of a folder. */
const neighboursOf =
  (sources: Map<string, string>, name: string): LoadsFastify =>
  (path) => {
    const wanted = join(dirname(name), path).replace(/\.[cm]?js$/, '')
    return [...sources].some(([other, text]) => {
      const module = other.replace(/\.[cm]?[jt]s$/, '')
      return (
        (other === join(dirname(name), path) ||
          module === wanted ||
          module === join(wanted, 'index')) &&
        loadsFastify(text)
      )
    })
  }

const PLAIN_STYLE = { module: 'import', quote: "'", semicolons: false, awaits: true } as const

/** The lines for a file that is left as it is, written as the file writes its own. */
function byHand({ app = 'app', style = PLAIN_STYLE }: ByHand = {}, packages = PLUGIN_PACKAGES) {
  return [
    ...importLines(style, packages),
    '',
    '// Before the server listens:',
    ...registerLines(app, style, packages),
  ]
}

type ByHand = Pick<Edit, 'app' | 'style'>

async function ignoreSecrets(work: Work): Promise<void> {
  const known = await work.textOf('.gitignore')
  if (known === undefined || /^\/?\.env(?:\*|\.\*)?\r?$/m.test(known)) return
  const end = known === '' || known.endsWith('\n') ? '' : '\n'
  await work.change('.gitignore', `${known}${end}.env\n`, '.env')
}

/** @param here the folder, as the user would write it */
async function newApp(work: Work, here: string): Promise<string[]> {
  const manifest = await work.textOf('package.json')
  // In an existing package the ending says that it is a module.
  const app = manifest === undefined || isModule(manifest) ? 'app.js' : 'app.mjs'
  const ofOurs = `^${ownVersion()}`
  const dependencies = {
    fastify: '^5.0.0',
    ...Object.fromEntries(PLUGIN_PACKAGES.map((name) => [name, ofOurs])),
  }
  const isNew =
    manifest === undefined &&
    (await work.make(
      'package.json',
      packageJson(packageName(work.folder), app, dependencies, { '@svc/cli': ofOurs }),
    ))
  await work.make(app, APP)
  await work.make('.gitignore', GITIGNORE)
  return [
    '',
    'next:',
    ...(here === '' ? [] : [`  cd ${here}`]),
    ...(isNew
      ? ['  npm install']
      : [`  npm install ${Object.keys(dependencies).join(' ')}`, INSTALL_COMMAND]),
    '  cp .env.example .env',
    '  npx svc secret >> .env',
    '  docker compose up -d --wait',
    isNew ? '  npm start' : `  node --env-file=.env ${app}`,
    '  curl -X POST localhost:3000/orders -H "x-api-key: <the BOOTSTRAP_KEY of .env>"',
  ]
}

const isModule = (manifest: string): boolean => {
  try {
    return (JSON.parse(manifest) as { type?: unknown }).type === 'module'
  } catch (error) {
    throw new Error(`package.json is not JSON (${(error as Error).message}): mend it first`)
  }
}

/** A name that npm takes. */
const packageName = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z\d-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '') || 'app'

const ENV_EXAMPLE = '.env.example'

async function variables(work: Work): Promise<void> {
  const known = await work.textOf(ENV_EXAMPLE)
  const all = Object.keys(VARIABLES)
  const missing =
    known === undefined
      ? all
      : all.filter((name) => !new RegExp(`^[ \\t#]*(?:export +)?${name} *=`, 'm').test(known))
  const text = missing.map((name) => `${VARIABLES[name]}\n`).join('')
  if (known === undefined) await work.make(ENV_EXAMPLE, text)
  else if (missing.length === 0) work.keep(ENV_EXAMPLE)
  else {
    const end = known === '' || known.endsWith('\n') ? '' : '\n'
    await work.change(ENV_EXAMPLE, known + end + text, missing.join(', '))
  }
}

const COMPOSE_NAMES = ['docker-compose.yml', 'docker-compose.yaml', 'compose.yaml', 'compose.yml']

async function compose(work: Work): Promise<void> {
  for (const name of COMPOSE_NAMES) {
    const known = await work.textOf(name)
    if (known === undefined) continue
    if (/^\s*image:.*(?:postgres|postgis|timescale)/m.test(known)) work.keep(name)
    else {
      work.lacks(`${name} has no Postgres. Add to its services, where you want one:`, [
        COMPOSE_SERVICE + '\nvolumes:\n  postgres:',
      ])
    }
    return
  }
  await work.make(COMPOSE_NAMES[0]!, COMPOSE)
}
