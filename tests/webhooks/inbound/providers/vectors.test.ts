import t from 'tap'
import { providers, type ProviderId } from '@svc/webhooks/providers'
import type { InboundSource, SecretLookup } from '@svc/webhooks'
import { Outside } from '../../../../packages/webhooks/src/inbound/outside.ts'
import { originOf, requestOf, vectors, type Vector } from '../vectors.ts'

/** The row that a vector is for. */
const presetOf = (id: string): ((options: object) => InboundSource) =>
  providers[id as ProviderId] as never

/** What the host gives a preset, by what the vector says that the receiver holds. */
function optionsFor(vector: Vector, needs: readonly string[]): object {
  const names = [vector.secret ?? vector.publicKey ?? []]
    .flat()
    .map((_, place) => `SECRET_${place}`)
  const all: Record<string, unknown> = {
    publicOrigin: originOf(vector),
    webhookId: vector.webhookId,
    verifyTokenSecretName: 'VERIFY_TOKEN',
    topicArn: 'arn:aws:sns:eu-west-1:1:t',
    clientId: 'client',
    username: 'user',
  }
  return {
    path: '/hooks',
    ...(names.length > 0 && { secretName: names }),
    ...Object.fromEntries(needs.map((need) => [need, all[need]])),
  }
}

const lookupOf =
  (vector: Vector): SecretLookup =>
  (name) =>
    [vector.secret ?? vector.publicKey ?? []].flat()[Number(name.slice('SECRET_'.length))] ?? null

const outsideOf = ({ certificate = '' }: Vector) =>
  new Outside(async () => ({ statusCode: 200, body: certificate }))

for (const [id, its] of Map.groupBy(vectors, ({ provider }) => provider)) {
  t.test(`the preset ${id} tells genuine requests from forged ones`, async (t) => {
    const make = presetOf(id)
    if (!make) return t.fail('there is no such preset')
    for (const vector of its) {
      if (vector.now) t.intercept(Date, 'now', { value: () => (vector.now ?? 0) * 1000 })
      const { verify } = make(optionsFor(vector, needsOf(make)))
      const outside = outsideOf(vector)
      const verdict = await verify(requestOf(vector), vector.body, lookupOf(vector), outside)
      t.equal(verdict, vector.valid, vector.id)
    }
  })
}

/** The options that the preset asks for, told by its refusals. */
function needsOf(make: (options: object) => InboundSource): string[] {
  const needs: string[] = []
  const given: Record<string, unknown> = { path: '/hooks', secretName: 'S' }
  for (;;) {
    try {
      make(given)
      return needs
    } catch (error) {
      const { message } = error as Error
      const [, missing] = /the option "(\w+)" is missing/.exec(message) ?? []
      if (/there is no option "secretName"/.test(message)) delete given['secretName']
      else if (missing) {
        needs.push(missing)
        given[missing] = missing === 'publicOrigin' ? 'https://example.com' : 'x'
      } else throw error
    }
  }
}
