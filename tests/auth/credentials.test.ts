import t from 'tap'
import {
  NO_KEY,
  presentedKey,
  UNCLEAR_KEY,
  type Presented,
} from '../../packages/auth/src/guard/credentials.ts'

const A = 'Authorization'
const X = 'X-API-Key'

const cases: [about: string, rawHeaders: string[], presented: Presented][] = [
  ['no headers', [], NO_KEY],
  ['other headers', ['Host', 'x', 'Accept', '*/*'], NO_KEY],
  ['X-API-Key', [X, 'k1'], 'k1'],
  ['its name in any case', ['x-aPi-kEy', 'k1'], 'k1'],
  ['an underscore is another header', ['X_API_Key', 'k1'], NO_KEY],
  ['an empty key is none', [X, ''], NO_KEY],
  ['Bearer', [A, 'Bearer k1'], 'k1'],
  ['the scheme in any case', [A, 'bEARER k1'], 'k1'],
  ['the header in any case', ['authorization', 'Bearer k1'], 'k1'],
  ['more than one space', [A, 'Bearer    k1 '], 'k1'],
  ['a tab parts nothing', [A, 'Bearer\tk1'], NO_KEY],
  ['Bearer without a token', [A, 'Bearer'], NO_KEY],
  ['Bearer with spaces alone', [A, 'Bearer   '], NO_KEY],
  ['an empty Authorization', [A, ''], NO_KEY],
  ['two tokens are one text that no key has', [A, 'Bearer k1 k2'], 'k1 k2'],
  ['a scheme that begins like Bearer', [A, 'BearerX k1'], NO_KEY],
  ['Basic', [A, 'Basic azE6'], NO_KEY],
  ['a no-break space belongs to the key', [X, 'k1\u00a0'], 'k1\u00a0'],
  ['Proxy-Authorization', ['Proxy-Authorization', 'Bearer k1'], NO_KEY],
  ['two X-API-Key, equal', [X, 'k1', X, 'k1'], UNCLEAR_KEY],
  ['two X-API-Key, the first one empty', [X, '', X, 'k1'], UNCLEAR_KEY],
  ['two Authorization', [A, 'Bearer k1', A, 'Bearer k2'], UNCLEAR_KEY],
  ['two Authorization of other schemes', [A, 'Basic x', A, 'Basic y'], UNCLEAR_KEY],
  ['both with one key', [X, 'k1', A, 'Bearer k1'], 'k1'],
  ['both with different keys', [A, 'Bearer k2', X, 'k1'], UNCLEAR_KEY],
  ['X-API-Key beside Basic', [A, 'Basic azE6', X, 'k1'], 'k1'],
  ['X-API-Key beside a Bearer without a token', [A, 'Bearer', X, 'k1'], UNCLEAR_KEY],
  ['an empty X-API-Key beside a Bearer', [X, '', A, 'Bearer k1'], UNCLEAR_KEY],
]

for (const [about, rawHeaders, presented] of cases) {
  t.test(`the key of a request: ${about}`, (t) => {
    t.equal(presentedKey(rawHeaders), presented)
    t.end()
  })
}
