/** A host with a table of its own, and a subscription to the event `a`. */
import type { Test } from 'tap'
import { startHost, type Host } from './host.ts'

export async function startShop(t: Test): Promise<Host & { received: unknown[] }> {
  const received: unknown[] = []
  const host = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void received.push(payload)),
  })
  await host.app.svc.database.query('create table orders (id int primary key)')
  return { ...host, received }
}

export const countOf = async ({ app }: Host, table: string) => {
  const { rows } = await app.svc.database.query(`select count(*)::int as n from ${table}`)
  return rows[0].n as number
}
