/** A receiver whose connections take as long to stand as a lost SYN takes to be sent again: a second. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import type { Test } from 'tap'

const RECEIVER = `
const { createServer } = require('node:net')
const { parentPort, workerData } = require('node:worker_threads')
const answer = 'HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok'
const server = createServer((socket) => socket.on('error', () => {}).on('data', () => socket.end(answer)))
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  Atomics.wait(workerData, 0, 0)
})
`
/** More than its system keeps for a server that accepts none. */
const BEYOND_BACKLOG = 8

export interface FarReceiver {
  port: number
  /** From now on it accepts connections; those that have been attempted before take a second. */
  accept(): void
}

export async function farReceiver(t: Test): Promise<FarReceiver> {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(RECEIVER, { eval: true, workerData: gate })
  const fillers: Socket[] = []
  const accept = () => {
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
  }
  t.teardown(async () => {
    accept()
    for (const filler of fillers) filler.destroy()
    await worker.terminate()
  })
  const [port] = (await once(worker, 'message')) as [number]
  for (let i = 0; i < BEYOND_BACKLOG; i++) {
    fillers.push(connect(port, '127.0.0.1').on('error', () => {}))
  }
  await once(fillers[0]!, 'connect')
  return { port, accept }
}
