/** A cluster for a storm: one host has a list of its servers, one is behind HAProxy, one behind PgBouncer before that. */
import { startPgBouncer, withoutPgBouncer } from '../../support/pgbouncer.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import type { Place } from '../storm.ts'
import { AT_ONCE, startCluster, type Owner } from './cluster.ts'

export async function startPlace(
  owner: Owner,
  isSynchronous: boolean,
  faults: number,
): Promise<Place> {
  const cluster = await startCluster(owner, { count: isSynchronous ? 3 : 2, isSynchronous })
  const direct = cluster.urlOf(cluster.proxyPort)
  const listed = await Promise.all(
    cluster.ports.map((port) => proxyPostgres(owner, cluster.urlOf(port))),
  )
  const list = cluster.urlOf(...listed.map(({ url }) => new URL(url).port))
  const behind = async (url: string) => {
    const proxy = await proxyPostgres(owner, url)
    return { url: proxy.url, proxies: [proxy] }
  }
  const ways = [{ url: list, proxies: listed }, await behind(direct)]
  if (!withoutPgBouncer) ways.push(await behind(await startPgBouncer(owner, direct, AT_ONCE)))
  return { ways, direct, restart: null, cluster, faults }
}
