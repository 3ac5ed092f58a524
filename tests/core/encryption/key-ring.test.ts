import { randomBytes } from 'node:crypto'
import t from 'tap'
import {
  isSealed,
  KeyRing,
  NO_CIPHER,
  parseKey,
  type Place,
} from '../../../packages/core/src/encryption/key-ring.ts'

const [one, two] = [randomBytes(32), randomBytes(32)]
const place: Place = { table: 'webhooks', column: 'secret', row: '1' }
const text = 'whsec_Zürich 🔑'

t.test('an encrypted text is decrypted in its own place, by any key of the ring', async (t) => {
  const sealed = new KeyRing([one]).seal(text, place)
  t.match(sealed, /^svcenc:v1:[0-9a-f]{12}:[A-Za-z0-9+/]+=*$/)
  t.ok(isSealed(sealed))
  t.equal(new KeyRing([one]).open(sealed, place), text)
  t.equal(new KeyRing([two, one]).open(sealed, place), text)
  t.equal(new KeyRing([one]).open(new KeyRing([one]).seal('', place), place), '')
  t.not(new KeyRing([one]).seal(text, place), sealed, 'each time with a nonce of its own')
})

t.test('an encrypted text that was moved or changed is not decrypted', async (t) => {
  const ring = new KeyRing([one, two])
  const sealed = ring.seal(text, place)
  const failed = { code: 'SVC_CORE_DECRYPTION_FAILED', message: /changed, or belongs/ }
  for (const other of [{ row: '2' }, { column: 'previous_secret' }, { table: 'users' }]) {
    t.throws(() => ring.open(sealed, { ...place, ...other }), failed, JSON.stringify(other))
  }
  const at = sealed.lastIndexOf(':') + 1
  for (const cut of ['', 'AAAA', sealed.slice(at, -4), `${sealed.slice(at)}AAAA`]) {
    t.throws(() => ring.open(sealed.slice(0, at) + cut, place), failed, cut)
  }
  const [, , otherId] = new KeyRing([two]).seal(text, place).split(':')
  t.throws(() => ring.open(`svcenc:v1:${otherId}:${sealed.slice(at)}`, place), failed, 'key id')
})

t.test('the error of a missing key names the place, and not the text', async (t) => {
  const sealed = new KeyRing([one]).seal(text, place)
  t.throws(() => new KeyRing([two]).open(sealed, place), {
    message: /secret of webhooks 1 cannot be decrypted: no key has the id "[0-9a-f]{12}"/,
  })
  t.throws(() => NO_CIPHER.open(sealed, place), { message: /"encryption" is not set/ })
})

t.test('a text that was never encrypted is returned, and is not current', async (t) => {
  const ring = new KeyRing([two, one])
  t.equal(ring.open(text, place), text)
  t.notOk(ring.isCurrent(text))
  t.notOk(ring.isCurrent(new KeyRing([one]).seal(text, place)))
  t.ok(ring.isCurrent(ring.seal(text, place)))
})

t.test('without encryption keys texts stay as they are', async (t) => {
  t.equal(NO_CIPHER.seal(text, place), text)
  t.equal(NO_CIPHER.open(text, place), text)
})

t.test('a key is 32 bytes of base64', async (t) => {
  t.same(parseKey(one.toString('base64')), one)
  t.same(parseKey(one.toString('base64url')), one)
  const wrong = ['', 'key', one.toString('hex'), one.subarray(1).toString('base64')]
  for (const secret of [
    ...wrong,
    `${one.toString('base64')} `,
    randomBytes(33).toString('base64'),
  ]) {
    t.equal(parseKey(secret), null, secret)
  }
})
