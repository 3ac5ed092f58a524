import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { NameServers } from '../../../../packages/webhooks/src/outbound/http/name-servers.ts'

const A = 1
const AAAA = 28
const CODES: Record<string, number> = { none: 0, servfail: 2, nxdomain: 3, refused: 5 }

/** A name server that answers as the first label says; it is silent on `silent`, and on AAAA of `half`. */
async function nameServer(t: Test) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, 12)
    const label = query.toString('latin1', 13, 13 + query[12]!)
    const type = query.readUInt16BE(end + 1)
    asked.push(`${label} ${type}`)
    if (label === 'silent' || (label === 'half' && type === AAAA)) return
    const isFound = label === 'found' || label === 'half'
    const answer = Buffer.from(query.subarray(0, end + 5))
    answer.writeUInt16BE(0x8180 | (CODES[label] ?? 0), 2)
    answer.writeUInt16BE(isFound && type === A ? 1 : 0, 6)
    answer.writeUInt32BE(0, 8)
    const record = Buffer.from('c00c00010001000000000004c0000201', 'hex')
    socket.send(isFound && type === A ? Buffer.concat([answer, record]) : answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => void socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

t.test('any response of name servers counts as an answer, except their own failure', async (t) => {
  const server = await nameServer(t)
  const nameServers = new NameServers([server.address])
  t.teardown(() => nameServers.close())
  for (const label of ['found', 'none', 'nxdomain', 'refused']) {
    t.equal(await nameServers.answer(`${label}.test`), true, label)
  }
  t.equal(await nameServers.answer('servfail.test'), false)
  t.same(new Set(server.asked).has(`found ${A}`) && server.asked.includes(`found ${AAAA}`), true)
})

t.test('a lookup under way ends when the resolver closes', async (t) => {
  const server = await nameServer(t)
  const nameServers = new NameServers([server.address])
  const answers = ['silent.test', 'half.test'].map((name) => nameServers.answer(name))
  while (!server.asked.includes(`half ${AAAA}`)) await new Promise(setImmediate)
  nameServers.close()
  t.same(await Promise.all(answers), [false, false])
})

t.test('a missing server is detected at once', async (t) => {
  const { address } = await nameServer(t)
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  await new Promise<void>((closed) => socket.close(closed))
  t.not(address, `127.0.0.1:${port}`)
  t.equal(await new NameServers([`127.0.0.1:${port}`]).answer('any.test'), true)
})
