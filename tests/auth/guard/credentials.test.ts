import t from 'tap'
import { AMBIGUOUS, MISSING, presentedKey } from '../../../packages/auth/src/guard/credentials.ts'

const A = 'Authorization'
const X = 'X-API-Key'

const cases: [about: string, rawHeaders: string[], presented: string | object][] = [
  ['no headers', [], MISSING],
  ['other headers', ['Host', 'x', 'Accept', '*/*'], MISSING],
  ['X-API-Key', [X, 'k1'], 'k1'],
  ['its name in any case', ['x-aPi-kEy', 'k1'], 'k1'],
  ['an underscore is another header', ['X_API_Key', 'k1'], MISSING],
  ['an empty key is none', [X, ''], MISSING],
  ['Bearer', [A, 'Bearer k1'], 'k1'],
  ['the scheme in any case', [A, 'bEARER k1'], 'k1'],
  ['the header in any case', ['authorization', 'Bearer k1'], 'k1'],
  ['more than one space', [A, 'Bearer    k1 '], 'k1'],
  ['a tab parts nothing', [A, 'Bearer\tk1'], MISSING],
  ['Bearer without a token', [A, 'Bearer'], MISSING],
  ['Bearer with spaces alone', [A, 'Bearer   '], MISSING],
  ['an empty Authorization', [A, ''], MISSING],
  ['two tokens are one text that no key has', [A, 'Bearer k1 k2'], 'k1 k2'],
  ['a scheme that begins like Bearer', [A, 'BearerX k1'], MISSING],
  ['Basic', [A, 'Basic azE6'], MISSING],
  ['a no-break space belongs to the key', [X, 'k1\u00a0'], 'k1\u00a0'],
  ['Proxy-Authorization', ['Proxy-Authorization', 'Bearer k1'], MISSING],
  ['two X-API-Key, equal', [X, 'k1', X, 'k1'], AMBIGUOUS],
  ['two X-API-Key, the first one empty', [X, '', X, 'k1'], 'k1'],
  ['two X-API-Key, the second one of blanks', [X, 'k1', X, ' \t'], 'k1'],
  ['an X-API-Key of blanks', [X, ' \t '], MISSING],
  ['a no-break space is a key', [X, '\u00a0'], '\u00a0'],
  ['two Authorization', [A, 'Bearer k1', A, 'Bearer k2'], AMBIGUOUS],
  ['two Authorization of other schemes', [A, 'Basic x', A, 'Basic y'], AMBIGUOUS],
  ['both with one key', [X, 'k1', A, 'Bearer k1'], 'k1'],
  ['both with different keys', [A, 'Bearer k2', X, 'k1'], AMBIGUOUS],
  ['X-API-Key beside Basic', [A, 'Basic azE6', X, 'k1'], 'k1'],
  ['X-API-Key beside a Bearer without a token', [A, 'Bearer', X, 'k1'], 'k1'],
  ['X-API-Key beside a Bearer with blanks alone', [A, 'Bearer  \t', X, 'k1'], 'k1'],
  ['X-API-Key beside an empty Authorization', [X, 'k1', A, ''], 'k1'],
  ['an empty X-API-Key beside a Bearer', [X, '', A, 'Bearer k1'], 'k1'],
  ['an X-API-Key of blanks behind a Bearer', [A, 'Bearer k1', X, '  '], 'k1'],
  ['a Bearer beside one without a token', [A, 'Bearer', A, 'Bearer k1'], 'k1'],
  ['a Bearer beside a Basic without a value', [A, 'Bearer k1', A, 'Basic '], 'k1'],
  ['both without a value', [X, '', A, 'Bearer '], MISSING],
]

for (const [about, rawHeaders, presented] of cases) {
  t.test(`the key of a request: ${about}`, (t) => {
    t.equal(presentedKey(rawHeaders), presented)
    t.end()
  })
}
