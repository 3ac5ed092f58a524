import t from 'tap'
import { answerReader, requestReader } from '../../bench/load/client.ts'

/** Every way to split the bytes in two. */
function* splits(text: string): Generator<Buffer[]> {
  const bytes = Buffer.from(text)
  for (let at = 1; at < bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)]
}

t.test('answers are counted however they are split into chunks', async (t) => {
  const text =
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' +
    'HTTP/1.1 204 No Content\r\n\r\n' +
    'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n'
  for (const chunks of splits(text)) {
    const statuses: number[] = []
    const reader = answerReader((status) => statuses.push(status))
    for (const chunk of chunks) reader.read(chunk)
    t.same(statuses, [200, 204, 503])
  }
})

t.test('an answer without a length is an error', async (t) => {
  const reader = answerReader(() => {})
  t.throws(() => reader.read(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')), /without a length/)
})

t.test('requests are read with path and body however they are split into chunks', async (t) => {
  const text =
    'POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\n{é' +
    'POST /b?c HTTP/1.1\r\nContent-Length: 0\r\n\r\n'
  for (const chunks of splits(text)) {
    const requests: string[] = []
    const reader = requestReader((path, body) => requests.push(`${path} ${body.toString()}`))
    for (const chunk of chunks) reader.read(chunk)
    t.same(requests, ['/a {é', '/b?c '])
  }
})
