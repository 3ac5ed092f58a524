/**
 * A host's folder outside of the workspace, with the packages as they would be published: packed,
 * and unpacked into its `node_modules`. What they depend on is linked from the workspace, so no
 * registry is asked; each finds only what its own `package.json` names.
 */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OTHER } from './other-versions.ts'

export const WORKSPACE = fileURLToPath(new URL('../../', import.meta.url))
/** Packages that run in a host, and say at import which Node they need. */
export const HOST_PACKAGES = ['core', 'auth', 'webhooks', 'console']
const PACKAGES = [...HOST_PACKAGES, 'nest', 'testing', 'providers', 'receiver', 'cli']

/**
 * Makes the folder, where `dependencies` are the host's own. The caller removes it.
 *
 * @param workspace this one, or another checkout
 */
export function makePackedHost(dependencies: string[], workspace = WORKSPACE): string {
  const host = realpathSync(mkdtempSync(join(tmpdir(), 'svc-host-')))
  const tarballs = join(host, 'tarballs')
  const ran = runIn(workspace)
  ran('pnpm', '-r', '--filter', './packages/*', 'pack', '--pack-destination', tarballs)
  // Another checkout may have fewer.
  const packages = PACKAGES.filter((name) => existsSync(join(workspace, 'packages', name)))
  for (const name of packages) {
    const folder = join(host, 'node_modules/@svc', name)
    const [tarball] = globSync(join(tarballs, `svc-${name}-*.tgz`))
    mkdirSync(folder, { recursive: true })
    ran('tar', 'xzf', tarball!, '-C', folder, '--strip-components=1')
    linkDependencies(folder, join(workspace, 'packages', name))
  }
  for (const name of dependencies) {
    link(join(host, 'node_modules', name), installed(name, join(workspace, 'tests')))
  }
  writeFileSync(join(host, 'package.json'), '{ "type": "module" }')
  return host
}

function linkDependencies(folder: string, source: string): void {
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Partial<Record<'dependencies' | 'peerDependencies', Record<string, string>>>
  for (const needed of Object.keys({ ...dependencies, ...peerDependencies })) {
    if (needed.startsWith('@svc/')) continue
    link(join(folder, 'node_modules', needed), installed(needed, source))
  }
}

/** The package as this one has it, or another Fastify that the tests run with. */
function installed(name: string, by: string): string {
  const other = name === 'fastify' ? process.env[OTHER.fastify] : undefined
  return join(other ?? by, 'node_modules', name)
}

function link(at: string, target: string): void {
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync(realpathSync(target), at)
}

/** Runs a program to its end, without the hooks that tap puts into each Node below it. */
export function run(cwd: string, command: string, ...args: string[]) {
  const { status, stdout, stderr, error } = spawnSync(
    'env',
    ['-u', 'NODE_OPTIONS', command, ...args],
    { cwd, encoding: 'utf8' },
  )
  if (error !== undefined) throw error
  return { status, output: stdout + stderr }
}

const runIn =
  (workspace: string) =>
  (command: string, ...args: string[]): void => {
    const { status, output } = run(workspace, command, ...args)
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${output}`)
  }
