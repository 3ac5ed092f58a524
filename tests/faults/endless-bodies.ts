/**
 * A process that opens so many requests whose bodies do not end, and sends their answers to the test. Of
 * its own: sockets of both sides in one process would be more than many systems allow it.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

const [port = 0, count = 0] = process.argv.slice(2).map(Number)
const answers = Array.from({ length: count }, async () => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{')
  return await text(socket)
})
process.send?.(await Promise.all(answers), () => process.disconnect())
