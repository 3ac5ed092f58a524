/**
 * What is wrong with the connections between hosts and Postgres. Each host has its own way there, and
 * several things may be wrong at a time.
 */
import { setTimeout } from 'node:timers/promises'
import type { PostgresProxy } from '../support/postgres-proxy.ts'

type Wrong = (proxy: PostgresProxy) => void

export class Network {
  #ways: readonly (readonly PostgresProxy[])[]
  /** What is wrong, and with which of the ways. */
  #wrong = new Map<symbol, { proxies: readonly PostgresProxy[]; wrong: Wrong }>()

  /** @param ways the proxies of each host: one, or one for each server of its list */
  constructor(ways: readonly (readonly PostgresProxy[])[]) {
    this.#ways = ways
  }

  /** Resolves when it is over, for one host or for all of them. What else is wrong goes on. */
  async suffer(ms: number, wrong: Wrong, host?: number): Promise<void> {
    const proxies = this.#ways.filter((_, place) => host === undefined || place === host).flat()
    const name = Symbol()
    this.#wrong.set(name, { proxies, wrong })
    for (const proxy of proxies) wrong(proxy)
    await setTimeout(ms)
    this.#wrong.delete(name)
    for (const proxy of proxies) {
      proxy.mend()
      for (const other of this.#wrong.values()) {
        if (other.proxies.includes(proxy)) other.wrong(proxy)
      }
    }
  }

  /** Resets all connections that there are. */
  reset(): void {
    for (const proxy of this.#ways.flat()) proxy.reset()
  }
}
