// PayPal: the certificate of a request is PayPal's by its host, its name and the chain to a root.
import { createPrivateKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { crc32 } from 'node:zlib'
import t, { type Test } from 'tap'
import { providers } from '@svc/webhooks/providers'
import { hostOf, post } from './counting-host.ts'
import { startProvider } from './provider-server.ts'

const pem = (name: string) =>
  readFileSync(new URL(`../../support/tls/chain/${name}.pem`, import.meta.url), 'utf8')
const AT = 'https://api.paypal.com/v1/notifications/certs/CERT-1'
const ISSUER_AT = 'https://cacerts.digicert.com/Issuer.crt.pem'
const body = '{"id":"WH-1","event_type":"PAYMENT.SALE.COMPLETED"}'

/** A request of PayPal, signed as its page says. */
function headersOf(url: string): Record<string, string> {
  const at = new Date().toISOString()
  const signed = `t-1|${at}|8PT59|${crc32(body)}`
  return {
    'paypal-auth-algo': 'SHA256withRSA',
    'paypal-cert-url': url,
    'paypal-transmission-id': 't-1',
    'paypal-transmission-time': at,
    'paypal-transmission-sig': sign(
      'sha256',
      Buffer.from(signed),
      createPrivateKey(pem('leaf-key')),
    ).toString('base64'),
  }
}

/** Sends a request to a host that finds these files outside; what it trusts is the root of the tests. */
async function send(
  t: Test,
  files: Record<string, string>,
  url = AT,
  roots: readonly string[] = [pem('root')],
) {
  const fetched: string[] = []
  const source = providers.paypal({ path: '/a', webhookId: '8PT59' })
  const fetch = async (wanted: { url: URL }) => {
    fetched.push(wanted.url.href)
    const file = files[wanted.url.href]
    return { statusCode: file === undefined ? 404 : 200, body: file ?? '' }
  }
  const { app } = hostOf(t, source, {}, fetch, roots)
  const answers = [await post(app, body, headersOf(url)), await post(app, body, headersOf(url))]
  return { statuses: answers.map(({ statusCode }) => statusCode), fetched }
}

t.test('a certificate whose chain is in its file is trusted, and fetched once', async (t) => {
  const { statuses, fetched } = await send(t, { [AT]: pem('paypal') + pem('issuer') })
  t.strictSame(statuses, [200, 200])
  t.strictSame(fetched, [AT])
})

t.test(
  'an issuer that is not in the file is fetched from where the certificate says',
  async (t) => {
    const { statuses, fetched } = await send(t, { [AT]: pem('paypal'), [ISSUER_AT]: pem('issuer') })
    t.strictSame(statuses, [200, 200])
    t.strictSame(fetched, [AT, ISSUER_AT])
  },
)

const chain = pem('issuer')
const refused: Record<
  string,
  [files: Record<string, string>, url?: string, roots?: readonly string[]]
> = {
  'signed by itself': [{ [AT]: pem('self-signed') }],
  'signed by itself, beside a genuine chain': [{ [AT]: pem('self-signed') + chain }],
  'issued by a certificate that is no authority': [
    { [AT]: pem('by-leaf') + pem('paypal') + chain },
  ],
  'of another name': [{ [AT]: pem('other-name') + chain }],
  'of a root that is not trusted': [{ [AT]: pem('paypal') + chain }, AT, [pem('other-root')]],
  'of no root that Node trusts': [{ [AT]: pem('paypal') + chain }, AT, rootCertificates],
  'of an issuer that is nowhere': [{ [AT]: pem('paypal') }],
  'beside an issuer that is another': [{ [AT]: pem('paypal'), [ISSUER_AT]: pem('other-root') }],
  'no certificate': [{ [AT]: 'not one' }],
  'on another host': [{}, 'https://evil.test/v1/notifications/certs/CERT-1'],
}
for (const [what, given] of Object.entries(refused)) {
  t.test(`a certificate ${what} is refused`, async (t) => {
    const { statuses } = await send(t, ...given)
    t.strictSame(statuses, [401, 401])
  })
}

t.test('the certificate and its issuer are requested over TLS', async (t) => {
  const files = { [AT]: pem('paypal'), [ISSUER_AT]: pem('issuer') }
  const { fetch, asked } = await startProvider(t, files)
  const source = providers.paypal({ path: '/a', webhookId: '8PT59' })
  const { app, published } = hostOf(t, source, {}, fetch, [pem('root')])
  t.equal((await post(app, body, headersOf(AT))).statusCode, 200)
  t.equal((await post(app, body, headersOf(`${AT}0`))).statusCode, 401, 'a redirect')
  t.strictSame(asked, [AT, ISSUER_AT, `${AT}0`])
  t.equal(published.length, 1)
})
