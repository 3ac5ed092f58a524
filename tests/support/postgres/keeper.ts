// Starts one Postgres, says where it is in one line of JSON, and waits for its standard input to
// end: that is its owner's wish or its owner's death. Then it stops the server and removes its files.
// Anything that is written to its standard input makes it shut the server down and start it again.
import { on } from 'node:events'
import { closeSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { makeCluster, startServer } from './cluster.ts'
import { makeFolder, makeFolderInMemory, sweepFolders } from './folders.ts'
import { unprivilegedUser } from './user.ts'

const settings = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>

const released = new Promise<void>((resolve) => {
  process.stdin.on('end', resolve).on('error', resolve).resume()
  process.on('SIGINT', resolve).on('SIGTERM', resolve).on('SIGHUP', resolve)
})
const wishes = on(process.stdin, 'data')

await sweepFolders()
const user = await unprivilegedUser()
const folder = await makeFolder(user)
// A server that waits for its disk is to have one.
const inMemory = settings['fsync'] === 'on' ? undefined : await makeFolderInMemory(user)
try {
  const cluster = await makeCluster(folder, join(inMemory ?? folder, 'data'), user)
  const all = { ...(inMemory ? { max_wal_size: '256MB' } : {}), ...settings }
  let server = await startServer(cluster, user, all)
  const { port } = new URL(server.url)
  answer({ url: server.url })
  for (;;) {
    const restart = wishes.next().then(() => 'restart')
    const next = await Promise.race([released, server.ended, restart])
    await server.stop()
    if (next !== 'restart') break
    server = await startServer(cluster, user, { ...all, port })
  }
} catch (error) {
  answer({ error: error instanceof Error ? error.message : String(error) })
} finally {
  for (const one of [folder, inMemory ?? folder]) {
    await rm(one, { recursive: true, force: true, maxRetries: 5 })
  }
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
