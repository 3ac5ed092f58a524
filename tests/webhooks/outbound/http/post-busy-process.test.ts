import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { createAddressFilter } from '../../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'
import { createPost } from '../../../../packages/webhooks/src/outbound/http/post.ts'

const TIMEOUT_MS = 300

/** Answers each request after a moment, and counts the answers in the memory that it shares. */
const RECEIVER = `
const { createServer } = require('node:net')
const { parentPort, workerData } = require('node:worker_threads')
const answer = 'HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok'
const server = createServer((socket) => {
  socket.on('error', () => {}).on('data', () => setTimeout(() => {
    socket.write(answer)
    Atomics.add(workerData, 0, 1)
    Atomics.notify(workerData, 0)
  }, 50))
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

async function receiverOfItsOwnThread(t: Test) {
  const answers = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(RECEIVER, { eval: true, workerData: answers })
  t.teardown(() => worker.terminate())
  const [port] = (await once(worker, 'message')) as [number]
  return { port, answers }
}

t.test('an answer that came while the process was busy is no timeout', async (t) => {
  const { port, answers } = await receiverOfItsOwnThread(t)
  const isBlocked = createAddressFilter(['127.0.0.0/8'])
  const post = createPost({ timeoutMs: 60_000, userAgent: 'test', isBlocked })
  t.teardown(() => post.close())
  const send = (timeoutMs: number) =>
    post.send(
      new URL(`http://127.0.0.1:${port}/`),
      [],
      Buffer.from('{}'),
      new AbortController().signal,
      { timeoutMs },
    )
  t.match(await send(60_000), { statusCode: 200 }, 'the connection is kept')

  const began = performance.now()
  const answer = send(TIMEOUT_MS)
  for (let turns = 0; turns < 5; turns++) await setImmediate() // The request is sent.
  Atomics.wait(answers, 0, 1, 5000)
  while (performance.now() - began <= TIMEOUT_MS);
  t.match(await answer, { statusCode: 200, failure: null })
})
