import { glob, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { importLines, PLUGIN_PACKAGES, registerLines } from '../init/app-lines.ts'
import { edited, listens } from '../init/edit-app.ts'
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
file that makes a Fastify instance and listens, and adds the plugins before listen(). No file is
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

/** Returns what the user does next. */
async function existingApp(work: Work, sources: Map<string, string>): Promise<string[]> {
  const next = [
    '',
    'next:',
    `  npm install ${PLUGIN_PACKAGES.join(' ')}`,
    '  set the variables of .env.example ("npx svc secret" makes the keys)',
    'Every route needs an API key now, except /health: protectedPaths and excludePaths of svcAuth open others.',
    'The first key: npx svc create-key --email you@example.com --name You --scopes admin',
  ]
  const ours = [...sources].find(([, text]) =>
    /['"]@svc\/(?:core|auth|webhooks|nest)['"]/.test(text),
  )
  if (ours) {
    work.keep(ours[0])
    return next
  }
  const found = [...sources].filter(([, text]) => listens(text))
  const [only, another] = found
  if (only && !another) {
    const [name, source] = only
    const { text, reason } = edited(source)
    if (text === undefined)
      work.lacks(`${name} could not be edited: ${reason}. Add to it:`, BY_HAND)
    else await work.change(name, text, 'the plugins')
  } else if (another) {
    const names = found.map(([name]) => name).join(', ')
    work.lacks(`several files listen (${names}). Add to the one that is your server:`, BY_HAND)
  } else {
    work.lacks(
      'no file makes a Fastify instance and listens. Add to the file that makes your instance:',
      BY_HAND,
    )
  }
  return next
}

const BY_HAND_STYLE = { module: 'import', quote: "'", semicolons: false, awaits: true } as const
const BY_HAND = [
  ...importLines(BY_HAND_STYLE),
  '',
  '// Before the server listens:',
  ...registerLines('app', BY_HAND_STYLE),
]

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
    isNew ? '  npm install' : `  npm install ${Object.keys(dependencies).join(' ')}`,
    '  cp .env.example .env',
    '  npx svc secret >> .env',
    '  docker compose up -d --wait',
    isNew ? '  npm start' : `  node --env-file=.env ${app}`,
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
