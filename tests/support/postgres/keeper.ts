// Starts one Postgres, says where it is in one line of JSON, and waits for its standard input to
// end: that is its owner's wish or its owner's death. Then it stops the server and removes its files.
// "restart" on its standard input makes it shut the server down and start it again, "crash" kill it and start
// it again, "kill" kills it. With the argument "standby" or "late" a second server follows the first, and
// outlives it.
import { on } from 'node:events'
import { closeSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { makeCluster, REPLICATED, startServer, startStandby, type Server } from './cluster.ts'
import { makeFolder, makeFolderInMemory, sweepFolders } from './folders.ts'
import { unprivilegedUser } from './user.ts'

const settings = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const hasStandby = process.argv[3] !== undefined
const isLate = process.argv[3] === 'late'

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
let server: Server | undefined
try {
  const cluster = await makeCluster(folder, join(inMemory ?? folder, 'data'), user)
  const all = {
    ...(inMemory ? { max_wal_size: '256MB' } : {}),
    ...(hasStandby && REPLICATED),
    ...settings,
  }
  server = await startServer(cluster, user, all)
  const { port } = new URL(server.url)
  const standby = hasStandby
    ? await startStandby(cluster, server, join(inMemory ?? folder, 'standby'), user, isLate)
    : undefined
  answer({ url: server.url, standby: standby?.url })
  for (;;) {
    const wish = wishes.next().then(({ value }) => String(value).trim())
    const next = await Promise.race([released, standby?.ended ?? server.ended, wish])
    if (next === 'kill') {
      server.kill()
      continue
    }
    if (next === 'crash') {
      server.kill()
      await server.ended
      server = await startAfterCrash(() => startServer(cluster, user, { ...all, port }))
      continue
    }
    await server.stop()
    if (next !== 'restart') break
    server = await startServer(cluster, user, { ...all, port })
  }
  await standby?.stop()
} catch (error) {
  await server?.stop()
  answer({ error: error instanceof Error ? error.message : String(error) })
} finally {
  for (const one of [folder, inMemory ?? folder]) {
    await rm(one, { recursive: true, force: true, maxRetries: 5 })
  }
}
process.exit()

/** The other processes of a server that was killed keep its memory until they see that it is gone. */
async function startAfterCrash(start: () => Promise<Server>): Promise<Server> {
  for (let triesLeft = 100; ; triesLeft--) {
    try {
      return await start()
    } catch (error) {
      if (triesLeft === 0) throw error
      await pause(100)
    }
  }
}

function answer(said: { url: string; standby: string | undefined } | { error: string }): void {
  try {
    writeSync(1, JSON.stringify(said))
    closeSync(1)
  } catch {
    // The owner is gone already; standard input has ended too, and that is heard next.
  }
}
