/** Which applications have rows in this schema: each host writes the name of its own, for good. */
import { readFile } from 'node:fs/promises'
import { dirname, join, parse, sep } from 'node:path'
import type { Db } from './postgres/transaction.ts'

const SHARED =
  'another application uses the same tables, and shares keys, webhooks, events and limits with this one: give one of them another "schema" of svcCore; where both are one application, give all of its processes the same "application", and delete the other name from svc."__svc.applications"'

/** Writes the name of this application, and warns of others. */
export async function warnOfOthers(
  db: Db,
  application: string,
  log: { warn(details: object, message: string): void },
): Promise<void> {
  await db.query(`insert into svc."__svc.applications" (name) values ($1) on conflict do nothing`, [
    application,
  ])
  // Only now: of two that boot at the same time one sees the other at least.
  const { rows } = await db.query(
    `select 'svc' as schema, array(
       select name from svc."__svc.applications" where name <> $1 order by since limit 10) as others`,
    [application],
  )
  const { schema, others } = rows[0] as { schema: string; others: string[] }
  if (others.length > 0) log.warn({ schema, application, others }, SHARED)
}

/**
 * The name in the package.json nearest to the main script. A script that is installed, such as that of
 * fastify-cli, runs the application that has installed it; without a script it is the working directory's.
 */
export async function applicationName(
  script = process.argv[1],
  folder = process.cwd(),
): Promise<string | undefined> {
  const [own] = script?.split(`${sep}node_modules${sep}`) ?? []
  return (own && (await nearestName(own))) || nearestName(folder)
}

async function nearestName(path: string): Promise<string | undefined> {
  const name = await nameIn(join(path, 'package.json'))
  if (name !== undefined || path === parse(path).root) return name
  return nearestName(dirname(path))
}

async function nameIn(file: string): Promise<string | undefined> {
  try {
    const { name } = JSON.parse(await readFile(file, 'utf8')) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name.slice(0, 214) : undefined
  } catch {
    return undefined
  }
}
