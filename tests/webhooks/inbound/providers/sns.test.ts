// Amazon SNS: certificates and confirmations are fetched from the provider, and from nobody else.
import { createPrivateKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { providers } from '@svc/webhooks/providers'
import { hostOf, post } from './counting-host.ts'
import { startProvider } from './provider-server.ts'

const tls = (name: string) =>
  readFileSync(new URL(`../../support/tls/${name}.pem`, import.meta.url), 'utf8')
const TOPIC = 'arn:aws:sns:eu-west-1:1:orders'

/** A message of Amazon SNS, signed as its page says. */
function snsMessage(changes: Record<string, string>): string {
  const message: Record<string, string> = {
    Type: 'Notification',
    MessageId: 'm-1',
    TopicArn: TOPIC,
    Message: 'hello',
    Timestamp: new Date().toISOString(),
    SignatureVersion: '2',
    SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem',
    ...changes,
  }
  const names =
    message['Type'] === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const text = names
    .filter((name) => message[name] !== undefined)
    .map((name) => `${name}\n${message[name]}\n`)
    .join('')
  const hash = message['SignatureVersion'] === '1' ? 'sha1' : 'sha256'
  const key = createPrivateKey(tls('signer-key'))
  return JSON.stringify({
    ...message,
    Signature: sign(hash, Buffer.from(text), key).toString('base64'),
  })
}

const confirmation = {
  Type: 'SubscriptionConfirmation',
  Token: 't-1',
  SubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t-1',
}

/** A host that takes messages of one topic, and what it has fetched. */
function snsHost(t: Test, status = 200) {
  const fetched: string[] = []
  const host = hostOf(t, providers.sns({ path: '/a', topicArn: TOPIC }), {}, async ({ url }) => {
    fetched.push(url.href)
    return url.pathname.endsWith('.pem')
      ? { statusCode: 200, body: tls('signer') }
      : { statusCode: status, body: '' }
  })
  const send = (body: string) =>
    post(host.app, body, { 'content-type': 'text/plain; charset=UTF-8' })
  return { ...host, fetched, send }
}

t.test('a subscription of SNS is confirmed, and its messages are published', async (t) => {
  const { published, fetched, send } = snsHost(t)
  t.equal((await send(snsMessage(confirmation))).statusCode, 200)
  t.strictSame(fetched, [
    'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem',
    confirmation.SubscribeURL,
  ])
  t.strictSame(published, [])
  for (const SignatureVersion of ['1', '2']) {
    t.equal((await send(snsMessage({ SignatureVersion }))).statusCode, 200, SignatureVersion)
    t.equal((await send(snsMessage({ SignatureVersion, Subject: 'an order' }))).statusCode, 200)
  }
  t.strictSame(new Set(published), new Set(['sns.Notification']))
  t.equal(fetched.length, 2, 'the certificate is fetched once')
})

t.test('a confirmation or message that SNS has not signed is refused', async (t) => {
  const { published, fetched, send } = snsHost(t)
  const refused = {
    'another topic': { ...confirmation, TopicArn: 'arn:aws:sns:eu-west-1:2:orders' },
    'an address elsewhere': { ...confirmation, SubscribeURL: 'https://evil.test/' },
    'a certificate from elsewhere': { SigningCertURL: 'https://evil.test/key.pem' },
    'a certificate of a bucket': { SigningCertURL: 'https://s3.eu-west-1.amazonaws.com/k.pem' },
    'another file of the host': { SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/?a.pem' },
    'a query': { SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/a.pem?b.pem' },
    'a folder': { SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/a/b.pem' },
    'a spelling of its own': { SigningCertURL: 'https://SNS.eu-west-1.amazonaws.com/a.pem' },
    'the bucket sns': { SigningCertURL: 'https://sns.s3.amazonaws.com/a.pem' },
    'the bucket sns of a region': {
      SigningCertURL: 'https://sns.s3-us-west-2.amazonaws.com/a.pem',
    },
    'an old message': { Timestamp: '2026-01-05T10:12:44.000Z' },
    'two values in one': { MessageId: 'm-1\nTimestamp\nx' },
    'an unknown version': { SignatureVersion: '3' },
  }
  for (const [what, changes] of Object.entries(refused)) {
    t.equal((await send(snsMessage(changes))).statusCode, 401, what)
  }
  t.equal((await send(snsMessage({}).replace('hello', 'hallo'))).statusCode, 401, 'a changed one')
  t.strictSame(published, [])
  t.strictSame(fetched, ['https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem'])
})

t.test('a confirmation that the provider refuses is requested again', async (t) => {
  const { send } = snsHost(t, 503)
  t.equal((await send(snsMessage(confirmation))).statusCode, 500)
})

t.test('certificates and confirmations are requested over TLS from the hosts of SNS', async (t) => {
  const certificate = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem'
  const { fetch, asked } = await startProvider(t, {
    [certificate]: tls('signer'),
    [confirmation.SubscribeURL]: '<ConfirmSubscriptionResponse/>',
  })
  const source = providers.sns({ path: '/a', topicArn: TOPIC })
  const { app, published } = hostOf(t, source, {}, fetch)
  t.equal((await post(app, snsMessage(confirmation))).statusCode, 200)
  t.equal((await post(app, snsMessage({}))).statusCode, 200)
  t.strictSame(asked, [certificate, confirmation.SubscribeURL])
  t.strictSame(published, ['sns.Notification'])

  const moved = { SubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Other' }
  t.equal((await post(app, snsMessage({ ...confirmation, ...moved }))).statusCode, 500)
  const foreign = {
    SigningCertURL: 'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem',
  }
  t.equal((await post(app, snsMessage(foreign))).statusCode, 500, 'TLS of another name')
  t.strictSame(asked.slice(2), [moved.SubscribeURL], 'no redirect is followed')
})
