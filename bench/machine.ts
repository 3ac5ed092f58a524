import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'

/** Where the figures come from: without it they mean nothing. */
export async function describeMachine(): Promise<Record<string, string>> {
  return {
    cores: `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    ...(await versionsOf(COMPARED)),
  }
}

const COMPARED = [
  'fastify',
  'pg',
  'pg-boss',
  'undici',
  '@fastify/bearer-auth',
  'better-auth',
  '@better-auth/api-key',
]

async function versionsOf(packages: string[]): Promise<Record<string, string>> {
  const versions: Record<string, string> = {}
  for (const name of packages) versions[name] = (await versionOf(name)) ?? 'not installed'
  return versions
}

/** Through the folders of `node_modules`: most packages do not export their `package.json`. */
async function versionOf(name: string): Promise<string | undefined> {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  for (const folder of folders) {
    const text = await readFile(`${folder}/${name}/package.json`, 'utf8').catch(() => undefined)
    if (text !== undefined) return (JSON.parse(text) as { version: string }).version
  }
  return undefined
}
