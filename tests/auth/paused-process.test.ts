import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test as Tap } from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { startHost } from './support/host.ts'

t.test('a process that was stopped for a while trusts nothing it remembers', async (t) => {
  const { database, app, makeKey } = await startHost(t)
  const { id, key } = await makeKey()
  const other = await startProcess(t, database)
  t.match(await other.send(key), /^HTTP\/1.1 200/)

  other.signal('SIGSTOP')
  await app.svc.actions.call('__svc.auth.revokeApiKey', id)
  await pause(1100)
  // It lies in the socket when the process goes on: it may be read before any timer runs.
  const answer = other.send(key)
  await pause(50)
  other.signal('SIGCONT')
  t.match(await answer, /^HTTP\/1.1 401/)
})

async function startProcess(t: Tap, database: string) {
  const script = fileURLToPath(new URL('support/host-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, database], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const [port] = await once(createInterface(child.stdout), 'line')
  return {
    signal: (signal: NodeJS.Signals) => child.kill(signal),
    async send(key: string): Promise<string> {
      const socket = connect(Number(port), '127.0.0.1')
      socket.write(`GET /me HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`)
      const chunks: Buffer[] = []
      for await (const chunk of socket) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString()
    },
  }
}
