import { Type } from '@sinclair/typebox'
import t from 'tap'
import { checkedInput } from '../../../packages/core/src/actions/validate-input.ts'

t.test('an error of a name in an object says which name it is', async (t) => {
  const headers = Type.Record(Type.String(), Type.String(), {
    propertyNames: { minLength: 1, maxLength: 3 },
    maxProperties: 2,
  })
  const check = checkedInput(Type.Object({ headers }))
  t.same(check({ headers: { abc: '' } }), { headers: { abc: '' } })
  const rows: [headers: object, message: string][] = [
    [{ abcd: '' }, 'input/headers: its name "abcd" must NOT have more than 3 characters'],
    [{ '': '' }, 'input/headers: its name "" must NOT have fewer than 1 characters'],
    [{ a: '', b: '', c: '' }, 'input/headers must NOT have more than 2 properties'],
    [{ a: 1 }, 'input/headers/a must be string'],
  ]
  for (const [headers, message] of rows) t.throws(() => check({ headers }), { message })
})
