/** Seals texts for storage with AES-256-GCM, by a ring of keys of which the first one seals. */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import { DecryptionFailed, InvalidOption } from '../errors.ts'

/** The place where a text is stored: the text cannot be opened anywhere else. */
export interface Place {
  table: string
  column: string
  row: string
}

export interface Cipher {
  readonly isEnabled: boolean
  seal(text: string, place: Place): string
  /** A text that was stored unsealed is returned as it is. @throws DecryptionFailed */
  open(text: string, place: Place): string
  /** Whether `seal` would do more than choose another nonce. */
  isCurrent(text: string): boolean
}

export const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Begins each sealed text: `svcenc:v1:<key id>:<base64 of nonce, text and tag>`. */
const PREFIX = 'svcenc:v1:'

export const isSealed = (text: string): boolean => text.startsWith(PREFIX)

/** `null` where it is not 32 bytes of base64. */
export function parseKey(secret: string): Buffer | null {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(secret)) return null
  const key = Buffer.from(secret, 'base64')
  return key.length === KEY_BYTES ? key : null
}

/**
 * Identifies a key without revealing anything of it. It does not depend on the name of a secret.
 */
const keyIdOf = (key: Buffer): string =>
  hash('sha256', Buffer.concat([Buffer.from('svc key id\n'), key])).slice(0, 12)

export class KeyRing implements Cipher {
  readonly isEnabled = true
  /**
   * Key objects, because Node 24.21 takes longer to check a key of bytes than to encrypt a short
   * text.
   */
  #keys: Map<string, KeyObject>
  #first: { id: string; key: KeyObject }

  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.#keys = new Map(keys.map((key) => [keyIdOf(key), createSecretKey(key)]))
    this.#first = { id: keyIdOf(keys[0]), key: createSecretKey(keys[0]) }
  }

  seal(text: string, place: Place): string {
    const { id, key } = this.#first
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(dataOf(place, id))
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()])
    return `${PREFIX}${id}:${Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64')}`
  }

  open(text: string, place: Place): string {
    if (!isSealed(text)) return text
    const [id = '', base64 = ''] = text.slice(PREFIX.length).split(':')
    const key = this.#keys.get(id)
    if (key === undefined) throw new DecryptionFailed(nameOf(place), `no key has the id "${id}"`)
    const bytes = Buffer.from(base64, 'base64')
    try {
      // Node's decoder passes over what is not base64.
      if (bytes.toString('base64') !== base64) throw new TypeError('it is not base64')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(dataOf(place, id)).setAuthTag(bytes.subarray(-TAG_BYTES))
      const sealed = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
      return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8')
    } catch (error) {
      throw new DecryptionFailed(nameOf(place), 'it was changed, or belongs to another place', {
        cause: error,
      })
    }
  }

  isCurrent(text: string): boolean {
    return text.startsWith(`${PREFIX}${this.#first.id}:`)
  }
}

/** The key ring without the option `encryption`: texts are stored as they are. */
export const NO_CIPHER: Cipher = {
  isEnabled: false,
  seal: (text) => text,
  open(text, place) {
    // A host that signed with the sealed text would send signatures that no receiver can verify.
    if (isSealed(text)) {
      throw new DecryptionFailed(nameOf(place), 'the option "encryption" is not set in this host')
    }
    return text
  },
  isCurrent: () => true,
}

/** The associated data: with its key, table, column and row a text is bound to its place. */
const dataOf = ({ table, column, row }: Place, keyId: string): Buffer =>
  Buffer.from(JSON.stringify([keyId, table, column, row]))

const nameOf = ({ table, column, row }: Place): string => `${column} of ${table} ${row}`

/** Returns how many rows it has encrypted again. */
type ReencryptionTask = () => Promise<number>

/** `svc.reencrypt`: the tasks of the packages, one after the other. */
export class Reencryption {
  #cipher: Cipher
  #tasks: ReencryptionTask[] = []

  constructor(cipher: Cipher) {
    this.#cipher = cipher
  }

  add(task: ReencryptionTask): void {
    this.#tasks.push(task)
  }

  /** @throws InvalidOption, DecryptionFailed */
  async run(): Promise<{ reencrypted: number }> {
    if (!this.#cipher.isEnabled) {
      throw new InvalidOption('svc.reencrypt: svcCore needs the option "encryption"')
    }
    let reencrypted = 0
    for (const task of this.#tasks) reencrypted += await task()
    return { reencrypted }
  }
}
