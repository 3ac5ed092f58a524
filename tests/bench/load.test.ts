import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openConnection } from '../../bench/load/client.ts'

t.test('a request on a connection that has ended is answered with 0, not never', async (t) => {
  const server = createServer((request, response) => {
    if (request.url === '/last') response.shouldKeepAlive = false
    response.setHeader('content-length', 0)
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const connection = await openConnection((server.address() as AddressInfo).port)
  const statusOf = (path: string) =>
    new Promise<number>((resolve) => {
      connection.send(Buffer.from(`GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`), resolve)
    })
  t.equal(await statusOf('/'), 200)
  t.equal(await statusOf('/last'), 200)
  t.equal(await statusOf('/'), 0, 'the server closes the connection')
  t.equal(await statusOf('/'), 0)
})
