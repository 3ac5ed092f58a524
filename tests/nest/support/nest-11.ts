/** Preloaded by nest-11.test.ts: what imports Nest gets that of the folder nest-11. */
import { registerHooks } from 'node:module'

const parentURL = new URL('../nest-11/package.json', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    /^@nestjs\/(common|core|platform-fastify|testing)(\/|$)/.test(specifier)
      ? next(specifier, { ...context, parentURL })
      : next(specifier, context),
})
