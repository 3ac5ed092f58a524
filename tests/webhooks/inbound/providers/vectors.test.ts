import t from 'tap'
import { Outside } from '../../../../packages/webhooks/src/inbound/outside.ts'
import { lookupOf, optionsFor, presetOf } from '../presets.ts'
import { requestOf, vectors, type Vector } from '../vectors.ts'

const outsideOf = ({ certificate = '' }: Vector) =>
  new Outside(async () => ({ statusCode: 200, body: certificate }), Date.now, [certificate])

for (const [id, its] of Map.groupBy(vectors, ({ provider }) => provider)) {
  t.test(`the preset ${id} accepts genuine requests and refuses forged ones`, async (t) => {
    for (const vector of its) {
      const make = presetOf(vector)
      if (!make) return t.fail('there is no such preset')
      if (vector.now) t.intercept(Date, 'now', { value: () => (vector.now ?? 0) * 1000 })
      const { verify } = make(optionsFor(vector))
      const outside = outsideOf(vector)
      const verdict = await verify(requestOf(vector), vector.body, lookupOf(vector), outside)
      t.equal(verdict, vector.valid, vector.id)
    }
  })
}
