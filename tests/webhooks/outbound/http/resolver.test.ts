import { createSocket } from 'node:dgram'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  Resolver,
  resolverOf,
  type Lookup,
} from '../../../../packages/webhooks/src/outbound/http/resolver.ts'
import { until } from '../../../support/until.ts'

const A = 1
const AAAA = 28
const CODES: Record<string, number> = { none: 0, servfail: 2, nxdomain: 3, refused: 5 }
const OF_DNS: LookupAddress[] = [{ address: '192.0.2.1', family: 4 }]
const OF_SYSTEM: LookupAddress[] = [{ address: '192.0.2.9', family: 4 }]

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
  const end = () => new Promise<void>((closed) => socket.close(closed))
  t.teardown(() => end().catch(() => {}))
  return { address: `127.0.0.1:${socket.address().port}`, asked, end }
}

/** A resolver with a name server, a hosts file, and a system whose lookups end when the test says so. */
async function opened(t: Test, hosts = '') {
  const server = await nameServer(t)
  const path = join(t.testdir(), 'hosts')
  writeFileSync(path, hosts)
  const lookups: { hostname: string; end: (error?: Error) => void }[] = []
  const lookup: Lookup = (hostname, _options, callback) => {
    lookups.push({ hostname, end: (error) => callback(error ?? null, error ? [] : OF_SYSTEM) })
  }
  const resolver = new Resolver({ hosts: path, servers: [server.address], lookup })
  t.teardown(() => resolver.close())
  return { resolver, resolve: resolver.resolve, server, lookups }
}

t.test('a name that DNS has is never looked up by the system', async (t) => {
  const { resolve, server, lookups } = await opened(t)
  t.same(await resolve('found.test'), OF_DNS)
  t.same(new Set(server.asked), new Set([`found ${A}`, `found ${AAAA}`]))
  t.equal(lookups.length, 0)
})

t.test('a name that DNS does not have is looked up by the system', async (t) => {
  const { resolve, server, lookups } = await opened(t)
  const names = ['none.test', 'nxdomain.test', 'refused.test']
  const answers = names.map((name) => resolve(name))
  await until(() => lookups.length === 3)
  for (const { end } of lookups) end()
  t.same(await Promise.all(answers), [OF_SYSTEM, OF_SYSTEM, OF_SYSTEM], 'all at a time')
  await server.end()
  const withoutServer = resolve('any.test')
  await until(() => lookups.length === 4)
  lookups[3]!.end()
  t.same(await withoutServer, OF_SYSTEM)
})

t.test('names whose name servers are silent have one lookup of the system together', async (t) => {
  const { resolve, lookups } = await opened(t)
  const first = resolve('servfail.test')
  await until(() => lookups.length === 1)
  for (let n = 0; n < 5; n++) {
    await t.rejects(resolve(`servfail.dead${n}.test`), { code: 'EAI_AGAIN' })
  }
  t.same(await resolve('found.test'), OF_DNS, 'others are found meanwhile')
  const unknown = resolve('nxdomain.test')
  await until(() => lookups.length === 2)
  lookups[1]!.end()
  t.same(await unknown, OF_SYSTEM)
  const failed = t.rejects(first, { message: 'no answer' })
  lookups[0]!.end(new Error('no answer'))
  await failed
  const next = resolve('servfail.test')
  await until(() => lookups.length === 3)
  lookups[2]!.end()
  t.same(await next, OF_SYSTEM)
})

t.test('a name with one kind of address is found where the other is not answered', async (t) => {
  const { resolve, server } = await opened(t)
  t.same(await resolve('half.test'), OF_DNS)
  t.ok(
    server.asked.filter((question) => question === `half ${AAAA}`).length > 1,
    'it was asked again',
  )
})

t.test('the hosts file comes before DNS, as it is at the time', async (t) => {
  const hosts = [
    '# 192.0.2.5 found.test',
    '192.0.2.2\tfound.test alias.test # and a comment',
    '::1 Found.Test',
    'no-address other.test',
  ].join('\r\n')
  const { resolve, server, lookups } = await opened(t, hosts)
  t.same(await resolve('found.test'), [
    { address: '192.0.2.2', family: 4 },
    { address: '::1', family: 6 },
  ])
  t.same(await resolve('alias.test'), [{ address: '192.0.2.2', family: 4 }])
  t.equal(server.asked.length, 0)
  const other = resolve('nxdomain.test')
  await until(() => lookups.length === 1)
  lookups[0]!.end()
  t.same(await other, OF_SYSTEM)
  writeFileSync(join(t.testdirName, 'hosts'), '')
  t.same(await resolve('found.test'), OF_DNS)
})

t.test('a host without a hosts file asks DNS', async (t) => {
  const { address } = await nameServer(t)
  const lookup: Lookup = () => t.fail('nothing to look up')
  const resolver = new Resolver({ hosts: '/nowhere/hosts', servers: [address], lookup })
  t.same(await resolver.resolve('found.test'), OF_DNS)
})

t.test('a question under way ends when the resolver closes', async (t) => {
  const { resolver, server, lookups } = await opened(t)
  const answer = resolver.resolve('silent.test')
  await until(() => server.asked.includes(`silent ${AAAA}`))
  resolver.close()
  await t.rejects(answer, { code: 'ECANCELLED' })
  t.equal(lookups.length, 0)
})

t.test('concurrent attempts share a lookup, and later ones make another', async (t) => {
  const lookups: (() => void)[] = []
  const { resolve } = resolverOf((_hostname, _options, callback) => {
    lookups.push(() => callback(null, OF_SYSTEM))
  })
  const both = [resolve('a.test'), resolve('a.test')]
  t.equal(lookups.length, 1)
  lookups[0]!()
  t.same(await Promise.all(both), [OF_SYSTEM, OF_SYSTEM])
  const later = resolve('a.test')
  lookups[1]!()
  t.same(await later, OF_SYSTEM)
})
