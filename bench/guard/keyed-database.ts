import Fastify from 'fastify'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import type { Bench } from '../benchmark.ts'
import { storeKeys } from './stored-keys.ts'

/** A database in which one user holds so many live keys. */
export async function keyedDatabase(bench: Bench, keys: number): Promise<string> {
  const database = await bench.database()
  const app = Fastify()
  await app.register(svcCore, { database, worker: { enabled: false } })
  await app.register(svcAuth, {})
  await app.ready()
  const { id } = await app.svc.actions.call('__svc.auth.createUser', {
    email: 'bench@example.com',
    name: 'Bench',
  })
  await app.close()
  await storeKeys(database, id, keys)
  return database
}
