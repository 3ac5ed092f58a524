// promise: A process that was suspended does not trust its cache
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test as Tap } from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { startProcess } from '../../support/process.ts'
import { startHost } from '../../support/host.ts'

t.test('a process that was suspended trusts nothing that it has cached', async (t) => {
  const { database, app, makeKey } = await startHost(t)
  const { id, key } = await makeKey()
  const other = await otherProcess(t, database)
  t.match(await settled(() => other.send(key)), /^HTTP\/1.1 200/)

  other.signal('SIGSTOP')
  await app.svc.actions.call('__svc.auth.revokeApiKey', id)
  // At least: a longer pause is the same to the other process.
  await pause(LONGER_THAN_A_LEASE_MS)
  // It lies in the socket when the process goes on: it may be read before any timer runs.
  const { sent, answer } = other.start(key)
  await sent
  other.signal('SIGCONT')
  // 503 where Postgres does not answer in time on a busy machine.
  t.match(await answer, /^HTTP\/1.1 (401|503)/)
  t.match(await settled(() => other.send(key)), /^HTTP\/1.1 401/)
})

const LONGER_THAN_A_LEASE_MS = 1100

async function settled(ask: () => Promise<string>): Promise<string> {
  for (;;) {
    const answer = await ask()
    if (!answer.startsWith('HTTP/1.1 503')) return answer
  }
}

async function otherProcess(t: Tap, database: string) {
  const { child, port } = await startProcess(t, database)
  const start = (key: string) => {
    const socket = connect(port, '127.0.0.1')
    const request = `GET /me HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`
    return {
      /** The kernel has taken it: over the loopback it lies at the other process now. */
      sent: new Promise<void>((resolve) => socket.write(request, () => resolve())),
      answer: text(socket),
    }
  }
  return {
    signal: (name: NodeJS.Signals) => child.kill(name),
    start,
    send: (key: string) => start(key).answer,
  }
}
