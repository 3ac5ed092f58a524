import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'

const COMPARED = [
  'fastify',
  'pg',
  'pg-boss',
  'undici',
  '@fastify/bearer-auth',
  'better-auth',
  '@better-auth/api-key',
]

/** The machine and the versions that the figures belong to. */
export async function describeMachine(): Promise<Record<string, string>> {
  const facts: Record<string, string> = {
    cores: `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
  }
  for (const name of COMPARED) facts[name] = (await versionOf(name)) ?? 'not installed'
  return facts
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
