import { randomBytes } from 'node:crypto'
import { query } from './server.ts'

/** A database of a benchmark's own. */
export async function createDatabase(
  server: string,
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `svc_bench_${randomBytes(5).toString('hex')}`
  await query(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: async () => void (await query(server, `drop database if exists ${name} with (force)`)),
  }
}
