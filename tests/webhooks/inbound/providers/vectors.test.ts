// promise: A request without the signature that its source requires is refused
import t from 'tap'
import { ProviderClient } from '../../../../packages/providers/src/provider-client.ts'
import { lookupOf, optionsFor, presetOf } from '../presets.ts'
import { requestOf, vectors, type Vector } from '../vectors.ts'

const providerClientOf = ({ certificate = '', keySet = certificate }: Vector) =>
  new ProviderClient(async () => ({ statusCode: 200, body: keySet }), Date.now, [certificate])

for (const [id, its] of Map.groupBy(vectors, ({ provider }) => provider)) {
  t.test(`the preset ${id} accepts genuine requests and refuses forged ones`, async (t) => {
    for (const vector of its) {
      const make = presetOf(vector)
      if (!make) return t.fail('there is no such preset')
      if (vector.now) t.intercept(Date, 'now', { value: () => (vector.now ?? 0) * 1000 })
      const { verify } = make(optionsFor(vector))
      const providerClient = providerClientOf(vector)
      const verdict = await verify(requestOf(vector), vector.body, lookupOf(vector), providerClient)
      t.equal(verdict, vector.valid, vector.id)
    }
  })
}
