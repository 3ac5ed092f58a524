import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Received } from './receiver.ts'

export interface ReceiverProcess {
  url: string
  /** Gives the receiver the secret by which it verifies requests to a path. */
  trust(path: string, secret: string): void
  /** From now on the receiver answers requests to a path at once. */
  repair(path: string): void
  /** Waits until `count` requests have come in at a path, and returns them. */
  received(path: string, count: number): Promise<Received[]>
  /** From now on calls `listener` with each request as it comes in. */
  onReceived(listener: (received: Received) => void): void
  stop(): Promise<void>
}

export async function startReceiver(): Promise<ReceiverProcess> {
  const child = fork(new URL('./receiver.ts', import.meta.url))
  const all: Received[] = []
  let check = () => {}
  let notify: (received: Received) => void = () => {}
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  child.on('message', ({ received }: { received: Received }) => {
    all.push(received)
    check()
    notify(received)
  })
  const at = (path: string) => all.filter((received) => received.path === path)
  return {
    url: `http://127.0.0.1:${port}`,
    trust: (path, secret) => void child.send({ path, secret }),
    repair: (path) => void child.send({ path, repaired: true }),
    received: (path, count) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () =>
            reject(new Error(`Only ${at(path).length} of ${count} requests came in at ${path}.`)),
          20_000,
        )
        check = () => {
          if (at(path).length < count) return
          clearTimeout(timer)
          resolve(at(path))
        }
        check()
      }),
    onReceived(listener) {
      notify = listener
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
