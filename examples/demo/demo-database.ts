import pg from 'pg'
import { usePostgres } from '../../tests/support/postgres.ts'

/**
 * A database of the demo's own, gone when it ends: on the server that `DATABASE_URL` names, else on
 * an embedded one.
 */
export async function openDemoDatabase(): Promise<{ url: string; close: () => Promise<void> }> {
  const given = process.env.DATABASE_URL
  if (given && !/^postgres(ql)?:$/.test(URL.parse(given)?.protocol ?? '')) {
    throw new Error(
      'DATABASE_URL is none of Postgres: it must look like postgres://user:password@host:5432/name.',
    )
  }
  const server = await usePostgres()
  const name = `svc_demo_${process.pid}_${Date.now()}`
  try {
    await assertNewEnough(server.url)
    await run(server.url, `create database ${name}`)
  } catch (error) {
    await server.stop()
    throw error
  }
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async close() {
      await run(server.url, `drop database if exists ${name} with (force)`)
      await server.stop()
    },
  }
}

async function assertNewEnough(server: string): Promise<void> {
  const [row] = await run(server, `select current_setting('server_version_num')::int as version`)
  const version = Number(row?.version)
  if (version >= 150_000) return
  throw new Error(
    `This Postgres is ${Math.floor(version / 10_000)}, and 15 or newer is needed: point DATABASE_URL at a newer one, or unset it for the embedded one.`,
  )
}

async function run(server: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    const { hostname, port } = new URL(server)
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(
      `Postgres at ${hostname}:${port || 5432} cannot be used (${code === 'ECONNREFUSED' ? 'nothing listens there' : message || code}): start it, correct DATABASE_URL, or unset it for the embedded one.`,
    )
  }
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
