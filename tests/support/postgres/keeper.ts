// Starts one Postgres, says where it is in one line of JSON, and waits for its standard input to
// end: that is its owner's wish or its owner's death. Then it stops the server and removes its files.
import { closeSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'

import { makeCluster, startServer } from './cluster.ts'
import { makeFolder, sweepFolders } from './folders.ts'
import { unprivilegedUser } from './user.ts'

const settings = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>

const released = new Promise<void>((resolve) => {
  process.stdin.on('end', resolve).on('error', resolve).resume()
  process.on('SIGINT', resolve).on('SIGTERM', resolve).on('SIGHUP', resolve)
})

await sweepFolders()
const user = await unprivilegedUser()
const folder = await makeFolder(user)
try {
  const cluster = await makeCluster(folder, user)
  const server = await startServer(cluster, user, settings)
  answer({ url: server.url })
  await Promise.race([released, server.ended])
  await server.stop()
} catch (error) {
  answer({ error: error instanceof Error ? error.message : String(error) })
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
process.exit()

function answer(said: { url: string } | { error: string }): void {
  try {
    writeSync(1, JSON.stringify(said))
    closeSync(1)
  } catch {
    // The owner is gone already; standard input has ended too, and that is heard next.
  }
}
