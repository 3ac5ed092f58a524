/** Signatures with ed25519 that are right, nearly right or made up, and what Node says of them. */
import { generateKeyPairSync, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import { spoilt, textOf } from './fuzz.ts'

export const NOW = 1_700_000_000
export const pair = generateKeyPairSync('ed25519')
const stranger = generateKeyPairSync('ed25519')
export const rawOf = ({ publicKey }: typeof pair) =>
  publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
export const signatureOf = (text: string, { privateKey } = pair) =>
  sign(null, Buffer.from(text), privateKey)

/** What is signed and sent; each part may be another than what was signed. */
export interface Sent {
  id: string
  timestamp: string
  body: string
  signature: string
}

const genuine = { id: 'msg_1', timestamp: String(NOW), body: '{"type":1,"a":"Zürich 🔑"}' }

/** Near what is genuine: the same, one place of it changed, or anything. */
export const near = (text: string, ...pieces: string[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(text) },
    { weight: 2, arbitrary: spoilt(text) },
    { weight: 1, arbitrary: textOf(text, ...pieces) },
  )
const timestamps = fc.oneof(
  near(genuine.timestamp, '1', ' ', '+', '-', '.', 'e'),
  // Where two parts meet, a digit may be taken from one for the other.
  fc.integer({ min: NOW - 400, max: NOW + 400 }).map(String),
  fc.constantFrom(`0${NOW}`, `${NOW}.0`, ` ${NOW}`, '1e9', `${NOW}\u0660`, 'Infinity', 'NaN', ''),
)

/** The header, by how a scheme writes one signature of these bytes. */
const signatures = (made: (bytes: Buffer) => string, signed: string, separator: string) => {
  const right = signatureOf(signed)
  const one = fc.oneof(
    { weight: 4, arbitrary: fc.constant(made(right)) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.nat(63), fc.integer({ min: 1, max: 255 })).map(([at, bits]) => {
        const bytes = Buffer.from(right)
        bytes[at]! ^= bits
        return made(bytes)
      }),
    },
    { weight: 2, arbitrary: spoilt(made(right)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        made(signatureOf(signed, stranger)),
        made(Buffer.alloc(64)),
        made(Buffer.concat([right, right])),
        made(right.subarray(0, 63)),
        made(right).toUpperCase(),
        made(right).replace(/=+$/, ''),
        `${made(right)}=`,
        'v1a,',
      ),
    },
    { weight: 1, arbitrary: textOf('v1a,', 'v1,', ',', '=', 'ff', separator, made(right)) },
  )
  return fc.array(one, { minLength: 1, maxLength: 4 }).map((all) => all.join(separator))
}

export const sentFor = (
  made: (bytes: Buffer) => string,
  signedOf: (sent: Omit<Sent, 'signature'>) => string,
  separator: string,
): fc.Arbitrary<Sent> =>
  fc
    .record({
      id: near(genuine.id, '.', '1'),
      timestamp: timestamps,
      body: near(genuine.body, '{', '"', '0'),
      isSignedAsSent: fc.boolean(),
    })
    .chain(({ isSignedAsSent, ...sent }) =>
      signatures(made, signedOf(isSignedAsSent ? sent : genuine), separator).map((signature) => ({
        ...sent,
        signature,
      })),
    )

/** Whether Node verifies one of the signatures over this text, whatever stands around it. */
export const isSigned = (texts: string[], encoding: 'hex' | 'base64', signed: string, key = pair) =>
  texts.some((text) => {
    const bytes = Buffer.from(text, encoding)
    return bytes.length === 64 && verify(null, Buffer.from(signed), key.publicKey, bytes)
  })

export const isTimely = (text: string, tolerance: number) =>
  /^[0-9]{1,13}$/.test(text) && Math.abs(Number(text) - NOW) <= tolerance

export const standardText = ({ id, timestamp, body }: Omit<Sent, 'signature'>) =>
  `${id}.${timestamp}.${body}`
export const asV1a = (bytes: Buffer) => `v1a,${bytes.toString('base64')}`
export const v1aOf = (header: string) =>
  header.split(' ').flatMap((one) => (one.startsWith('v1a,') ? [one.slice(4)] : []))
