import { createServer } from 'node:http'
import t from 'tap'
import { openConnection } from '../../bench/load/client.ts'
import { listening } from '../support/listening.ts'

t.test('a request on a connection that has ended is answered with 0, not never', async (t) => {
  const server = createServer((request, response) => {
    if (request.url === '/last') response.shouldKeepAlive = false
    response.setHeader('content-length', 0)
    response.end()
  })
  const connection = await openConnection(await listening(t, server))
  const statusOf = (path: string) =>
    new Promise<number>((resolve) => {
      connection.send(Buffer.from(`GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`), resolve)
    })
  t.equal(await statusOf('/'), 200)
  t.equal(await statusOf('/last'), 200)
  t.equal(await statusOf('/'), 0, 'the server closes the connection')
  t.equal(await statusOf('/'), 0)
})
