/** `node tests/faults/cluster/start.ts [--servers 2] [--asynchronous]`: a cluster by hand, until Ctrl-C. */
import { parseArgs } from 'node:util'
import { startPgBouncer, withoutPgBouncer } from '../../support/pgbouncer.ts'
import { AT_ONCE, startCluster, withoutCluster } from './cluster.ts'

const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '3' },
    asynchronous: { type: 'boolean', default: false },
  },
})
if (withoutCluster) {
  console.error(withoutCluster)
  process.exit(1)
}
const ends: (() => unknown)[] = []
async function end(): Promise<never> {
  for (const one of ends) await one()
  process.exit()
}
const owner = { teardown: (one: () => unknown) => void ends.unshift(one) }
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void end())
}
const cluster = await startCluster(owner, {
  count: Number(values.servers),
  isSynchronous: !values.asynchronous,
})
const proxied = cluster.urlOf(cluster.proxyPort)
console.log(`list       ${cluster.urlOf(...cluster.ports)}`)
console.log(`HAProxy    ${proxied}`)
if (withoutPgBouncer) console.log(`PgBouncer  ${withoutPgBouncer}`)
else console.log(`PgBouncer  ${await startPgBouncer(owner, proxied, AT_ONCE)}`)
for (const { name, url } of cluster.nodes) console.log(`${name.padEnd(10)} ${url}`)
