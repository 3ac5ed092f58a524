import t from 'tap'
import {
  RequestSecrets,
  type Expected,
} from '../../../packages/webhooks/src/inbound/request-secrets.ts'
import type { SecretLookup } from '@svc/webhooks'
import { received } from './received.ts'

type Get = (name: string) => Promise<string | null>

/** The secrets of a request to a source whose function is expected to use these. */
function secretsBy(get: Get) {
  const secrets = new RequestSecrets(get)
  const call = <Answer>(
    run: (secret: SecretLookup) => Answer | Promise<Answer>,
    expected: Expected = [],
  ) => secrets.call(expected, received([]), run)
  return { secrets, call }
}

function of(values: Record<string, string | null>) {
  const lookedUp: string[] = []
  const found = secretsBy(async (name) => {
    lookedUp.push(name)
    return values[name] ?? null
  })
  return { ...found, lookedUp }
}

const asking =
  (...names: string[]) =>
  (secret: SecretLookup) =>
    names.map((name) => secret(name))

t.test('a function gets secrets, also if their names were not known before', async (t) => {
  const { call, lookedUp } = of({ A: 'a secret', B: 'another' })
  t.strictSame(await call(asking('A', 'B', 'C', 'A')), ['a secret', 'another', null, 'a secret'])
  t.strictSame(lookedUp, ['A', 'B', 'C'], 'each once')
})

t.test(
  'a function is called once for each secret, and once where it says which ones it uses',
  async (t) => {
    const callsFor = async (expected: Expected) => {
      let calls = 0
      await of({}).call((secret) => {
        calls++
        return asking('A', 'B')(secret)
      }, expected)
      return calls
    }
    t.equal(await callsFor([]), 3)
    t.equal(await callsFor(['A']), 2)
    t.equal(await callsFor(['A', 'B']), 1)
    t.equal(await callsFor(() => ['A', 'B']), 1)
  },
)

t.test('a secret that is asked for in a callback is looked up for the next call', async (t) => {
  for (const [body, answer] of [
    ['a secret', true],
    ['forged', false],
  ] as const) {
    const { call } = of({ KEY: 'a secret' })
    const verify = (secret: SecretLookup) =>
      new Promise<boolean>((resolve) => {
        setTimeout(() => resolve(body === secret('KEY')), 1)
      })
    t.equal(await call(verify), answer)
  }
})

t.test('a call that never settles without its secret is ended after a while', async (t) => {
  const { call } = of({ KEY: 'a secret' })
  const answer = await call(async (secret) => {
    await Promise.resolve()
    if (secret('KEY') === null) await new Promise(() => {})
    return secret('KEY')
  })
  t.equal(answer, 'a secret')
})

t.test('the result of a call that lacked a secret is discarded', async (t) => {
  const { call } = of({ KEY: 'a secret' })
  const answer = await call((secret) => {
    try {
      return secret('KEY') === 'forged'
    } catch {
      return true
    }
  })
  t.equal(answer, false)
})

t.test(
  'a lookup that fails is an error of the function that needs it, and of no other',
  async (t) => {
    const { secrets, call } = secretsBy(async (name) => {
      if (name === 'BAD') throw new Error('the vault is sealed')
      return 'a secret'
    })
    await t.rejects(call(asking('BAD')), { message: 'the vault is sealed' })
    t.throws(() => secrets.assertFound(), { message: 'the vault is sealed' })
    t.strictSame(await call(asking('GOOD')), ['a secret'])
    secrets.assertFound()
  },
)

t.test('a function that asks for new secrets at each call is an error', async (t) => {
  let count = 0
  const asksForEver = (secret: SecretLookup) => secret(`NAME_${count++}`)
  await t.rejects(of({}).call(asksForEver), { message: /more than 100 secrets/ })
})

t.test('an empty secret counts as none', async (t) => {
  const { secrets, call } = of({ EMPTY: '' })
  t.strictSame(await call(asking('EMPTY', 'MISSING')), [null, null])
  t.throws(() => secrets.assertFound(), {
    code: 'SVC_WEBHOOKS_SECRET_MISSING',
    message: /EMPTY, MISSING/,
  })
})

t.test('one secret of several may be missing, for example between two rotations', async (t) => {
  const { secrets, call } = of({ NOW: 'a secret' })
  await call(asking('NEXT'))
  t.throws(() => secrets.assertFound(), { message: /NEXT/ })
  t.strictSame(await call(asking('NEXT', 'NOW')), [null, 'a secret'])
  secrets.assertFound()
})

t.test('a function that asks for no secret is not refused for a missing one', async (t) => {
  const { secrets, call } = of({})
  t.equal(await call(() => true), true)
  secrets.assertFound()
})

t.test('a text that quotes a secret, or a part of one, is detected', async (t) => {
  const { secrets, call } = of({ LONG: 'whsec_MfKQ9r8GKYqrTwjU', SHORT: 'hunter2' })
  t.equal(secrets.leaksInto('whsec_MfKQ9r8GKYqrTwjU'), false, 'before it was looked up')
  await call(asking('LONG', 'SHORT'))
  t.equal(secrets.leaksInto('the key whsec_MfKQ9r8GKYqrTwjU is bad'), true)
  t.equal(secrets.leaksInto('Unexpected token, ..."Q9r8GKYq"... is not valid JSON'), true)
  t.equal(secrets.leaksInto('no hunter2 here'), true)
  t.equal(secrets.leaksInto('no hunter here, and no whsec_M'), false)
})
