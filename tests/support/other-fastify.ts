/**
 * Preloaded where a run has another Fastify: all code imports that one, but for the adapter of Nest, which
 * brings the exact version that it needs. See other-versions.ts.
 */
import { createRequire, registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const other = createRequire(
  join(new URL(import.meta.url).searchParams.get('folder')!, 'package.json'),
)
const url = pathToFileURL(other.resolve('fastify')).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'fastify' && !context.parentURL?.includes('/@nestjs/platform-fastify/')
      ? { url, shortCircuit: true }
      : next(specifier, context),
})
