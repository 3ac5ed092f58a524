import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'

/**
 * Registers a step of the boot that has no time limit. Fastify gives the function of a plugin
 * `pluginTimeout` (10 seconds where the host sets none), and a migration may have to wait longer
 * for a lock. A plugin may be a promise of its function, and for that promise Fastify waits without
 * a limit: `start` runs as such a promise, when everything that was registered before is loaded;
 * then `mount` runs as the plugin, on the same instance.
 *
 * Must not be awaited in the function of the calling plugin, whose own time limit would hold.
 */
export function registerUntimed<Made>(
  app: FastifyInstance,
  name: string,
  start: () => Promise<Made>,
  mount: (made: Made) => void | Promise<void>,
): void {
  const pluginOf = (made: Made) => fp(async () => mount(made), { name, fastify: '5.x' })
  const lazy: PromiseLike<ReturnType<typeof pluginOf>> & { name: string } = {
    name,
    // A promise would begin at once, and might reject before Fastify handles it.
    // oxlint-disable-next-line unicorn/no-thenable -- being a thenable is its purpose
    then: (loaded, failed) => start().then(pluginOf).then(loaded, failed),
  }
  void app.register(lazy as unknown as Promise<{ default: never }>)
}
