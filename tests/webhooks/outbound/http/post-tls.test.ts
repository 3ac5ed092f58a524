// promise: A bad answer (endless, late, broken, reset, redirected, compressed, not HTTP, with a wrong certificate or old TLS) takes bounded time and memory
import { connect, type Socket } from 'node:net'
import type { TlsOptions } from 'node:tls'
import t, { type Test } from 'tap'
import {
  acceptingReceiver,
  gone,
  hastyReceiver,
  hostileTlsReceiver,
  pem,
  testAuthority,
  type HostileReceiver,
} from '../../support/hostile-receiver.ts'
import { openedPost } from '../../support/opened-post.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const FAILED = (failure: string) => ({
  statusCode: null,
  failure,
  retryAfter: null,
  responseBody: null,
})

const answer = (socket: { write(bytes: string): unknown }) => void socket.write(OK)
const url = ({ port }: { port: number }) => `https://receiver.test:${port}/`

t.test('a certificate with any defect is a failure `tls`, and no request is sent', async (t) => {
  const send = openedPost(t, { ca: pem('faulty/root.pem') })
  const to = (certificate: string) =>
    hostileTlsReceiver(t, answer, {
      options: { key: pem('faulty/leaf-key.pem'), cert: pem(`faulty/${certificate}.pem`) },
    })
  const sound = await to('sound')
  t.match(await send(url(sound)), { statusCode: 200, failure: null }, 'the others share its key')
  const defects = {
    'not-yet-valid': 'its time has not begun',
    expired: 'its time is over',
    'self-signed': 'nobody has issued it',
    'other-name': 'it is for another name',
    'for-clients': 'its purpose is to be shown by clients',
    'unknown-extension': 'it has a critical extension that nobody knows',
    'long-chain': 'an authority stands in its chain that may not',
    'by-leaf': 'what has issued it is no authority',
    'foreign-name': 'its authority may not issue for its name',
  }
  for (const [certificate, defect] of Object.entries(defects)) {
    const receiver = await to(certificate)
    t.same(await send(url(receiver)), FAILED('tls'), defect)
    await gone(receiver)
    t.equal(receiver.requests, 0, `${defect}: no request`)
    t.equal(receiver.connections, 1, `${defect}: one connection`)
  }
  t.same(await openedPost(t)(url(sound)), FAILED('tls'), 'its authority is not trusted')
})

t.test('a receiver that wants another kind of TLS is a failure `tls`', async (t) => {
  const send = openedPost(t, { ca: testAuthority() })
  const demands: Record<string, [options: TlsOptions, code: RegExp]> = {
    'a cipher of TLS 1.3 that is off by default': [
      { minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_CCM_8_SHA256' },
      /NO_SHARED_CIPHER/,
    ],
    'a cipher of TLS 1.2 for another kind of certificate': [
      { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' },
      /NO_SHARED_CIPHER/,
    ],
    'an outdated version': [
      { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' },
      /UNSUPPORTED_PROTOCOL/,
    ],
    // A receiver of HTTP/2 alone: we offer HTTP/1.1.
    'another protocol inside': [{ ALPNProtocols: ['h2'] }, /APPLICATION_PROTOCOL|ALPN/],
    'a certificate of the client, over TLS 1.2': [
      { maxVersion: 'TLSv1.2', requestCert: true },
      /PEER_DID_NOT_RETURN_A_CERTIFICATE/,
    ],
    // Here the alert comes after the handshake, and the request may be under way.
    'a certificate of the client, over TLS 1.3': [
      { minVersion: 'TLSv1.3', requestCert: true },
      /PEER_DID_NOT_RETURN_A_CERTIFICATE/,
    ],
  }
  for (const [demand, [options, code]] of Object.entries(demands)) {
    const receiver = await hostileTlsReceiver(t, answer, { options })
    t.same(await send(url(receiver)), FAILED('tls'), demand)
    await gone(receiver)
    t.equal(receiver.requests, 0, `${demand}: no request was served`)
    t.match(receiver.tlsErrors, [code], `${demand}: that is what the receiver missed`)
  }
})

/** Passes on what another receiver sends, up to so many bytes, and then acts. */
function cutReceiver(
  t: Test,
  { port }: HostileReceiver,
  bytes: number,
  act: (socket: Socket) => void,
): Promise<HostileReceiver> {
  return acceptingReceiver(t, (socket) => {
    const behind = connect(port, '127.0.0.1').on('error', () => {})
    socket.on('data', (sent) => behind.write(sent))
    socket.on('close', () => behind.destroy())
    let left = bytes
    behind.on('data', (sent: Buffer) => {
      if (left === 0) return
      const part = sent.subarray(0, left)
      left -= part.length
      socket.write(part, () => left === 0 && act(socket))
    })
  })
}

/** Two inside of the receiver's hello, and two inside of what follows it. */
const CUTS = [1, 60, 200, 600]

t.test('a handshake that is cut off is a reset', async (t) => {
  const send = openedPost(t, { ca: testAuthority() })
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const whole = await hostileTlsReceiver(t, answer, { onlyVersion: version })
    for (const ending of ['end', 'destroy', 'resetAndDestroy'] as const) {
      for (const bytes of CUTS) {
        const receiver = await cutReceiver(t, whole, bytes, (socket) => void socket[ending]())
        const name = `${version} after ${bytes} bytes, by ${ending}`
        t.same(await send(url(receiver)), FAILED('reset'), name)
        await gone(receiver)
        t.equal(receiver.connections, 1, `${name}: one connection`)
      }
    }
    t.equal(whole.requests, 0)
    const passed = await cutReceiver(t, whole, Infinity, () => {})
    t.match(await send(url(passed)), { statusCode: 200 }, 'what is not cut off gets through')
  }
})

t.test('a handshake that stalls is a timeout, and its connection is dropped', async (t) => {
  const whole = await hostileTlsReceiver(t, answer)
  const receivers = await Promise.all([
    acceptingReceiver(t, () => {}),
    ...CUTS.map((bytes) => cutReceiver(t, whole, bytes, () => {})),
  ])
  const send = openedPost(t, { ca: testAuthority(), timeoutMs: 300 })
  const answers = await Promise.all(receivers.map((receiver) => send(url(receiver))))
  for (const result of answers) t.same(result, FAILED('timeout'))
  for (const receiver of receivers) {
    // On a busy machine the time may be up before the receiver has accepted.
    while (receiver.connections === 0) await new Promise(setImmediate)
    await gone(receiver)
    t.equal(receiver.connections, 1)
  }
  t.equal(whole.requests, 0)
})

t.test('an alert after the handshake ends a request, also if the connection stays', async (t) => {
  const whole = await hostileTlsReceiver(t, answer, {
    options: { minVersion: 'TLSv1.3', requestCert: true },
  })
  // It passes the alert on, and not that the connection behind it has ended.
  const receiver = await cutReceiver(t, whole, Infinity, () => {})
  const send = openedPost(t, { ca: testAuthority() })
  t.same(await send(url(receiver)), FAILED('tls'))
  await gone(receiver)
  t.strictSame(whole.tlsErrors, ['ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE'])
})

t.test('an answer that is not TLS on a port of TLS is a failure `tls`', async (t) => {
  const send = openedPost(t, { ca: testAuthority() })
  const answers = [
    'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\nplain HTTP',
    OK,
    'SSH-2.0-OpenSSH_9.6\r\n',
    '220 mail.test ESMTP\r\n',
    '\0'.repeat(64),
    // A fatal alert of TLS itself: handshake_failure.
    '\x15\x03\x03\x00\x02\x02\x28',
    // A record that is longer than records may be.
    '\x16\x03\x03\xff\xff' + 'x'.repeat(64),
  ]
  for (const bytes of answers) {
    const hasty = await hastyReceiver(t, bytes)
    t.same(await send(url(hasty)), FAILED('tls'), JSON.stringify(bytes.slice(0, 20)))
    await gone(hasty)
    const patient = await acceptingReceiver(t, (socket) => {
      socket.once('data', () => socket.write(Buffer.from(bytes, 'latin1')))
    })
    t.same(await send(url(patient)), FAILED('tls'), 'the connection need not end for it')
    await gone(patient)
  }
})

t.test('a request without TLS to a port of TLS is a failure, and not an answer', async (t) => {
  const receiver = await hostileTlsReceiver(t, answer)
  const { statusCode, failure } = await openedPost(t)(`http://127.0.0.1:${receiver.port}/`)
  t.equal(statusCode, null)
  t.match(failure, /^(http|reset)$/)
  await gone(receiver)
  t.equal(receiver.requests, 0)
})
