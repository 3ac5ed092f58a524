// promise: A request without the signature that its source requires is refused
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { basicAuth, headerToken, hmac, type InboundSource, type Verify } from '@svc/webhooks'
import { eventsOf, hostOf } from './host.ts'
import { sign } from './received.ts'

const body = '{"a":1}'
const good = sign(body).toString('hex')
const source = (name: string, verify: Verify): InboundSource => ({
  path: `/${name}`,
  publishAs: name,
  verify,
})

/** A host on a port, and how to write bytes to it: what answers is read until it hangs up. */
async function wireTo(t: Test) {
  const { app } = await hostOf(
    t,
    {
      hmac: source('hmac', hmac({ signatureHeader: 'x-signature', secretName: 'KEY' })),
      token: source('token', headerToken({ header: 'x-token', secretName: 'TOKEN' })),
      basic: source('basic', basicAuth({ username: 'üser', passwordSecretName: 'TOKEN' })),
    },
    { secrets: { KEY: 'a key', TOKEN: 'tö:kén' }, bodyLimitBytes: 1000 },
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const send = async (...parts: (string | Buffer)[]): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(Buffer.concat(parts.map((part) => Buffer.from(part as string))))
    return text(socket)
  }
  const post = (path: string, ...lines: (string | Buffer)[]) =>
    send(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`,
      ...lines.flatMap((line) => [line, '\r\n']),
      `\r\n${body}`,
    )
  return { app, send, post }
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])

t.test('a wrong signature header of any bytes is a 401', async (t) => {
  const { app, post } = await wireTo(t)
  t.equal(statusOf(await post('/hmac', `X-Signature: ${good}`)), 200, 'the right one')
  const allowed = Array.from({ length: 256 }, (_, byte) => byte).filter(
    (byte) => byte === 9 || (byte >= 32 && byte !== 127),
  )
  const junk: Buffer[] = [
    Buffer.from(allowed),
    Buffer.alloc(good.length, 0xff),
    Buffer.from(`${good.slice(0, -1)}\u00e9`, 'latin1'),
    Buffer.from(`${good.slice(0, -2)}é`),
    Buffer.from(`${good}\t`.padEnd(8000, '0')),
    Buffer.from('%00=,;v1=,t=1'),
    Buffer.alloc(0),
  ]
  for (const bytes of junk) {
    const answer = await post('/hmac', Buffer.concat([Buffer.from('X-Signature: '), bytes]))
    t.equal(statusOf(answer), 401, bytes.subarray(0, 12).toString('latin1'))
  }
  t.equal((await eventsOf(app)).length, 1)
})

t.test('a header that comes twice is a 401, however its name is written', async (t) => {
  const { post } = await wireTo(t)
  t.equal(statusOf(await post('/hmac', `X-Signature: ${good}`, `x-signature: ${good}`)), 401)
  t.equal(statusOf(await post('/hmac', `x-signature: ${good}`, 'X-SIGNATURE: junk')), 401)
  const basic = `Basic ${Buffer.from('üser:tö:kén').toString('base64')}`
  t.equal(statusOf(await post('/basic', `Authorization: ${basic}`)), 200)
  t.equal(statusOf(await post('/basic', `Authorization: ${basic}`, `authorization: ${basic}`)), 401)
  t.equal(statusOf(await post('/basic', `Authorization: ${basic}`, 'Authorization: Basic x')), 401)
})

t.test('a token beyond ASCII is the same in UTF-8 and in Latin-1', async (t) => {
  const { post } = await wireTo(t)
  const token = (bytes: Buffer) => post('/token', Buffer.concat([Buffer.from('X-Token: '), bytes]))
  t.equal(statusOf(await token(Buffer.from('tö:kén'))), 200)
  t.equal(statusOf(await token(Buffer.from('tö:kén', 'latin1'))), 200)
  t.equal(statusOf(await token(Buffer.from('to:ken'))), 401)
})

t.test('a body shorter or longer than its Content-Length is refused or cut off', async (t) => {
  const { app, send } = await wireTo(t)
  const start = `POST /hmac HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Signature: ${good}\r\n`
  const long = await send(`${start}Content-Length: 2000\r\n\r\n`)
  t.equal(statusOf(long), 413)
  const chunked = `${start}Transfer-Encoding: chunked\r\n\r\n`
  t.equal(statusOf(await send(`${chunked}7\r\n${body}\r\n0\r\n\r\n`)), 200, 'chunked')
  const endless = `3e9\r\n${'x'.repeat(1001)}\r\n`
  t.equal(statusOf(await send(`${chunked}${endless}0\r\n\r\n`)), 413, 'chunked, over the limit')
  t.equal(statusOf(await send(`${chunked}zz\r\n`)), 400, 'no chunk')
  const both = `${start}Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n${body}\r\n0\r\n\r\n`
  t.equal(statusOf(await send(both)), 400, 'two lengths')
  t.equal((await eventsOf(app)).length, 1)
})

t.test('a host that was sent junk still serves', async (t) => {
  const { post } = await wireTo(t)
  await Promise.all(Array.from({ length: 50 }, () => post('/hmac', 'X-Signature: \u00ff')))
  t.equal(statusOf(await post('/hmac', `X-Signature: ${good}`)), 200)
})
