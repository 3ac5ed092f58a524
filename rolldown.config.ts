/**
 * The JavaScript of a package: a file for each of its exports, and a few for what several of them share,
 * each named by one of its modules. Node loads these in two thirds of the time of a file for each
 * module, and they take less memory. They are not minified. The declarations of types stay a file for
 * each module.
 *
 * All are in one folder, so only a module at the root of `src` may find a file of the package by its own
 * place (`import.meta.url`).
 *
 * It runs in the folder of a package. Its `package.json` names the module of each export in `exports`,
 * and the file of it in `publishConfig.exports`; the same for `bin`.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { defineConfig, type RenderedChunk } from 'rolldown'

interface Manifest {
  exports: Record<string, string>
  bin?: Record<string, string>
  publishConfig: {
    exports: Record<string, string | { default: string }>
    bin?: Record<string, string>
  }
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const { exports, bin = {}, publishConfig } = manifest

const input: Record<string, string> = {}
for (const [name, module] of Object.entries(exports)) {
  const file = publishConfig.exports[name]
  if (typeof file === 'object') input[basename(file.default, '.js')] = module
}
for (const [name, module] of Object.entries(bin)) {
  input[basename(publishConfig.bin![name]!, '.js')] = module
}

/** The check of Node's version, which an export imports before all else, stays its first import. */
function versionCheck({ isEntry, facadeModuleId }: RenderedChunk): string {
  if (!isEntry || facadeModuleId === null) return ''
  const [, name] =
    /^import '(\S+node-version)(\.ts)?'$/m.exec(readFileSync(facadeModuleId, 'utf8')) ?? []
  if (name === undefined) return ''
  return name.startsWith('.') ? "import './node-version.js'" : `import '${name}'`
}

export default defineConfig({
  input,
  platform: 'node',
  // What the package depends on is imported where it is installed.
  external: /^[^./]/,
  output: {
    dir: 'dist',
    cleanDir: true,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    banner: versionCheck,
    // The sources are published too.
    sourcemap: true,
    sourcemapExcludeSources: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    // The names of classes and functions are in errors and logs.
    keepNames: true,
  },
})
