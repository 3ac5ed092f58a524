import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Test } from 'tap'

/** A role without rights on a database, and the way to give it some: `$role` in a statement stands for it. */
export async function hostRole(t: Test, database: string) {
  const role = `svc_test_role_${randomBytes(5).toString('hex')}`
  const admin = new pg.Client(database)
  await admin.connect()
  await admin.query(`create role ${role} login password 'secret'`)
  t.teardown(async () => {
    await admin.query(`drop owned by ${role} cascade; drop role ${role}`)
    await admin.end()
  })
  const url = new URL(database)
  url.username = role
  url.password = 'secret'
  const sql = (text: string) => admin.query(text.replaceAll('$role', role))
  return { role, url, sql }
}
