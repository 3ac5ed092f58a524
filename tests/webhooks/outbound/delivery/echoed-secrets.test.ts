import t from 'tap'
import { openReceiver } from '../../../support/receiver.ts'
import { maskedAnswer } from '../../../../packages/webhooks/src/outbound/delivery/echoed-secrets.ts'
import { startHost } from '../../support/host.ts'
import { untilCount } from '../../../support/until.ts'

const TOKEN = 'tok_S/CRET+"VALUE"&123456é'
const SECRETS = [`Bearer ${TOKEN}`, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']

const base64 = (text: string) => Buffer.from(text).toString('base64')

t.test('a secret is masked in each of its spellings', async (t) => {
  const spellings = [
    TOKEN,
    Buffer.from(TOKEN).toString('latin1'),
    encodeURIComponent(TOKEN),
    encodeURIComponent(TOKEN).replace(/%../g, (code) => code.toLowerCase()),
    JSON.stringify(TOKEN).slice(1, -1),
    JSON.stringify(TOKEN).slice(1, -1).replaceAll('/', '\\/'),
    TOKEN.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
    Buffer.from(TOKEN).toString('hex'),
    SECRETS[1]!,
    SECRETS[1]!.slice('whsec_'.length),
    base64(SECRETS[1]!).slice(0, -2),
  ]
  for (const spelling of spellings) {
    t.equal(maskedAnswer(`not valid: ${spelling}, sorry`, SECRETS, false), 'not valid: ***, sorry')
  }
  for (const before of ['', 'a', 'ab', 'authorization: Bearer ']) {
    const masked = maskedAnswer(base64(`${before}${TOKEN} and more`), SECRETS, false)
    t.match(masked, /\*\*\*/, before)
    t.notMatch(Buffer.from(masked.replace('***', ''), 'base64').toString(), /CRET/)
  }
})

t.test('user, password and parts of a header are masked as well', async (t) => {
  const secrets = [
    `Basic ${base64('user:hunter2-hunter2')}`,
    'a=first-secret; b=second-secret',
    'proxy:pass-of-proxy',
  ]
  const answer = 'hunter2-hunter2 first-secret second-secret pass-of-proxy user'
  t.equal(maskedAnswer(answer, secrets, false), '*** *** *** *** user')
  t.equal(maskedAnswer(base64('user:hunter2-hunter2'), secrets, false), '***')
})

t.test('a secret that the end of the answer cuts off is masked', async (t) => {
  for (let length = 4; length < TOKEN.length; length++) {
    t.equal(maskedAnswer(`it was ${TOKEN.slice(0, length)}`, SECRETS, true), 'it was ***')
  }
  t.equal(maskedAnswer('it was tok', SECRETS, true), 'it was tok')
  t.equal(maskedAnswer('not cut: whsec_Mf', SECRETS, false), 'not cut: whsec_Mf')
})

t.test('answers without a secret, and short values of headers, stay as they are', async (t) => {
  for (const answer of ['', 'ok', '{"received":true}', 'x'.repeat(1024)]) {
    t.equal(maskedAnswer(answer, ['1', 'de', ...SECRETS], true), answer)
  }
})

t.test('no list, dead letter or event repeats a secret that a receiver has echoed', async (t) => {
  const { app } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const receiver = await openReceiver(t, {
    answer: ({ headers }) => ({
      status: 401,
      body: `${'x'.repeat(1000)} not valid: ${headers['authorization']} of ${headers['x-key']}`,
    }),
  })
  const webhook = await app.svc.webhooks.register({
    url: receiver.url,
    events: ['order.created'],
    headers: { authorization: 'Bearer tok_SECRETVALUE123456', 'x-key': 'another-secret' },
  })
  await app.svc.events.publish('order.created', { n: 1 })
  const [attempt] = await untilCount(1, () =>
    app.svc.webhooks.listDeliveries({ webhookId: webhook.id }),
  )
  t.match(attempt, { status: 'dead', statusCode: 401 })
  t.match(attempt!.responseBody, /^x+ not valid: \*\*\*/)
  const { rows } = await app.svc.database.query(
    `select to_jsonb(job)::text as text from svc_jobs.job as job
     union all select log::text from svc."__svc.webhooks.delivery_log" as log
     union all select event::text from svc."__svc.events" as event`,
  )
  t.ok(rows.length >= 2)
  t.notMatch(JSON.stringify([rows, attempt]), /SECRET|tok_/)
})
