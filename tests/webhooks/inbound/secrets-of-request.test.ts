import t from 'tap'
import { SecretsOfRequest } from '../../../packages/webhooks/src/inbound/secrets-of-request.ts'

const of = (secrets: Record<string, string | null>) =>
  new SecretsOfRequest(async (name) => secrets[name] ?? null)

t.test('an empty secret counts as none', async (t) => {
  const secrets = of({ EMPTY: '' })
  t.equal(await secrets.look('EMPTY'), null)
  t.equal(await secrets.look('MISSING'), null)
  t.equal(secrets.lacking, 'EMPTY, MISSING')
})

t.test('one secret of several may be missing, as between two rotations', async (t) => {
  const secrets = of({ NOW: 'a secret' })
  await secrets.look('NEXT')
  t.equal(secrets.lacking, 'NEXT')
  t.equal(await secrets.look('NOW'), 'a secret')
  t.equal(secrets.lacking, undefined)
})

t.test('who asks for no secret lacks none', async (t) => {
  t.equal(of({}).lacking, undefined)
})

t.test('a text that quotes a secret, or a stretch of one, is known', async (t) => {
  const secrets = of({ LONG: 'whsec_MfKQ9r8GKYqrTwjU', SHORT: 'hunter2' })
  t.equal(secrets.isQuotedIn('whsec_MfKQ9r8GKYqrTwjU'), false, 'before it was looked up')
  await secrets.look('LONG')
  await secrets.look('SHORT')
  t.equal(secrets.isQuotedIn('the key whsec_MfKQ9r8GKYqrTwjU is bad'), true)
  t.equal(secrets.isQuotedIn('Unexpected token, ..."Q9r8GKYq"... is not valid JSON'), true)
  t.equal(secrets.isQuotedIn('no hunter2 here'), true)
  t.equal(secrets.isQuotedIn('no hunter here, and no whsec_M'), false)
})
