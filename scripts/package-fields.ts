// Writes what npm and readers find the packages by into each package.json, from the root's, which is the one
// place to fill in: `node scripts/package-fields.ts`. Links of READMEs, and the address that an error of the receiver names, follow a new `homepage`.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(import.meta.dirname, '..')

/** Those that a package has besides `fastify`, `webhooks` and `api-keys`. */
const KEYWORDS: Record<string, string[]> = {
  core: ['fastify-plugin', 'postgres', 'events', 'outbox', 'jobs'],
  auth: ['fastify-plugin', 'authentication', 'authorization', 'rate-limit', 'quota', 'postgres'],
  webhooks: ['fastify-plugin', 'webhook', 'standard-webhooks', 'outbox', 'postgres'],
  console: ['fastify-plugin', 'admin', 'dashboard', 'portal'],
  cli: ['cli', 'migrations', 'postgres'],
  nest: ['nestjs', 'nestjs-module', 'postgres'],
  receiver: ['webhook', 'standard-webhooks', 'signature', 'hmac', 'verify'],
  providers: ['webhook', 'github', 'stripe', 'shopify', 'signature', 'verify'],
  testing: ['testing', 'test', 'webhook'],
}

type Manifest = Record<string, unknown> & {
  homepage: string
  scripts: Record<string, string>
  publishConfig?: { exports?: Exports }
}
type Exports = Record<string, string | { types: string; default: string }>

export const read = (file: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as Manifest

export const manifests = (): string[] =>
  globSync('packages/*/package.json', { cwd: ROOT }).toSorted()

/** The manifest of a package with its fields in their place, after the licence. */
export function withFields(file: string): Manifest {
  const { homepage, repository, bugs, author, funding } = read('package.json')
  const directory = file.replace('/package.json', '')
  const keywords = KEYWORDS[directory.replace('packages/', '')]
  if (keywords === undefined)
    throw new Error(`scripts/package-fields.ts has no keywords for ${file}`)
  const fields = {
    homepage,
    repository: { ...(repository as object), directory },
    bugs,
    author,
    funding,
    keywords: ['fastify', 'webhooks', 'api-keys', ...keywords],
    // Nothing happens when a module is loaded: bundlers may leave out what is not used.
    sideEffects: false,
  }
  const { name, version, description, license, ...rest } = read(file)
  const others = Object.fromEntries(Object.entries(rest).filter(([key]) => !(key in fields)))
  const { exports } = rest.publishConfig ?? {}
  if (exports) others['publishConfig'] = { ...rest.publishConfig, ...withoutExports(exports) }
  return { name, version, description, license, ...fields, ...others } as unknown as Manifest
}

/**
 * Where TypeScript finds the types of each entry if it does not read `exports`: `moduleResolution` is node10 by
 * default where `module` is commonjs. Node reads `exports`, so that `main` is for such readers alone.
 */
function withoutExports({ '.': root, ...others }: Exports): Record<string, unknown> {
  if (typeof root !== 'object') return {}
  const paths = Object.entries(others).flatMap(([path, entry]) =>
    typeof entry === 'object' ? [[path.replace('./', ''), [entry.types]]] : [],
  )
  return {
    main: root.default,
    types: root.types,
    ...(paths.length > 0 && { typesVersions: { '*': Object.fromEntries(paths) } }),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { homepage } = read('package.json')
  for (const file of manifests()) {
    const before = read(file).homepage as string | undefined
    writeFileSync(join(ROOT, file), `${JSON.stringify(withFields(file), null, 2)}\n`)
    if (before === undefined || before === homepage) continue
    const files = globSync(file.replace('package.json', '{README.md,src/invalid-delivery.ts}'))
    for (const linking of files) {
      writeFileSync(linking, readFileSync(linking, 'utf8').replaceAll(`${before}/`, `${homepage}/`))
    }
  }
}
