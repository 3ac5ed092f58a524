import t from 'tap'
import { AMBIGUOUS, keyReader, MISSING } from '../../../packages/auth/src/guard/credentials.ts'

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

const byDefault = keyReader({ keyHeaders: [], basic: false })
for (const [about, rawHeaders, presented] of cases) {
  t.test(`the key of a request: ${about}`, (t) => {
    t.equal(byDefault(rawHeaders), presented)
    t.end()
  })
}

const own = keyReader({ keyHeaders: ['x-acme-key', 'acme', 'x-api-key'], basic: false })
const K = 'X-Acme-Key'

const ownCases: typeof cases = [
  ['it alone', [K, 'k1'], 'k1'],
  ['its name in any case', ['X-ACME-KEY', 'k1'], 'k1'],
  ['another one', ['Acme', 'k1'], 'k1'],
  ['a header of the same length', ['X-Acme-Kez', 'k1'], MISSING],
  ['none', ['Host', 'x'], MISSING],
  ['empty', [K, ''], MISSING],
  ['blanks alone', [K, ' \t'], MISSING],
  ['empty beside X-API-Key', [K, '', X, 'k1'], 'k1'],
  ['beside an empty X-API-Key', [X, '', K, 'k1'], 'k1'],
  ['beside a Bearer without a token', [A, 'Bearer ', K, 'k1'], 'k1'],
  ['beside X-API-Key with the same key', [X, 'k1', K, 'k1'], 'k1'],
  ['beside X-API-Key with another key', [X, 'k1', K, 'k2'], AMBIGUOUS],
  ['beside a Bearer with the same key', [K, 'k1', A, 'Bearer k1'], 'k1'],
  ['beside a Bearer with another key', [K, 'k1', A, 'Bearer k2'], AMBIGUOUS],
  ['twice, equal', [K, 'k1', K, 'k1'], AMBIGUOUS],
  ['twice, the first one empty', [K, '', K, 'k1'], 'k1'],
  ['two of the host', [K, 'k1', 'acme', 'k1'], 'k1'],
  ['two of the host with different keys', [K, 'k1', 'acme', 'k2'], AMBIGUOUS],
  ['beside two X-API-Key', [X, 'k1', X, 'k1', K, 'k1'], AMBIGUOUS],
  ['X-API-Key, which the host names as well', [X, 'k1'], 'k1'],
]
for (const [about, rawHeaders, presented] of ownCases) {
  t.test(`a header of the host: ${about}`, (t) => {
    t.equal(own(rawHeaders), presented)
    t.end()
  })
}

const withBasic = keyReader({ keyHeaders: ['x-acme-key'], basic: true })
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

const basicCases: typeof cases = [
  ['the user name, the password empty', [A, basic('k1:')], 'k1'],
  ['the scheme in any case', [A, basic('k1:').replace('Basic', 'bASIC')], 'k1'],
  ['more than one space', [A, basic('k1:').replace(' ', '   ')], 'k1'],
  ['with a password', [A, basic('k1:secret')], MISSING],
  ['with a password of a colon', [A, basic('k1::')], MISSING],
  ['with a password of a blank', [A, basic('k1: ')], MISSING],
  ['without a colon', [A, basic('k1')], MISSING],
  ['without a user name', [A, basic(':')], MISSING],
  ['a user name of blanks', [A, basic('  :')], MISSING],
  ['without a value', [A, 'Basic'], MISSING],
  ['blanks alone', [A, 'Basic  '], MISSING],
  ['no base64', [A, 'Basic k1:'], MISSING],
  ['with a password beside X-API-Key', [A, basic('k2:secret'), X, 'k1'], 'k1'],
  ['beside X-API-Key with the same key', [A, basic('k1:'), X, 'k1'], 'k1'],
  ['beside X-API-Key with another key', [A, basic('k2:'), X, 'k1'], AMBIGUOUS],
  ['beside a header of the host with another key', [A, basic('k2:'), K, 'k1'], AMBIGUOUS],
  ['beside a Bearer', [A, basic('k1:'), A, 'Bearer k1'], AMBIGUOUS],
  ['Bearer all the same', [A, 'Bearer k1'], 'k1'],
  ['another scheme', [A, 'Digest azE6'], MISSING],
]
for (const [about, rawHeaders, presented] of basicCases) {
  t.test(`HTTP Basic: ${about}`, (t) => {
    t.equal(withBasic(rawHeaders), presented)
    t.end()
  })
}
