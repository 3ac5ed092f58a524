/** The one key that stands in no table: the value of a secret, for the first steps of a new host. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { within } from './patience.ts'

const SHORTEST = 16
const WAIT_MS = 2000
const PAUSE_MS = 1000
/** What a header can carry as one token. */
const SENDABLE = /^[\x21-\x7e]+$/

export interface SecretSource {
  get(name: string): Promise<string | null>
}

export class BootstrapKey {
  #digest: Buffer | undefined
  #secrets: SecretSource
  #log: FastifyBaseLogger
  /** The secret that is still to be read. */
  #unread: string | undefined
  #attempt: Promise<void> | undefined
  #nextAttemptAt = 0

  constructor(secrets: SecretSource, name: string | undefined, log: FastifyBaseLogger) {
    this.#secrets = secrets
    this.#unread = name
    this.#log = log
  }

  /**
   * Compares in constant time. `undefined` while the secret cannot be read: then nobody can say
   * which key it is.
   */
  async matches(key: string): Promise<boolean | undefined> {
    await this.read()
    if (this.#unread !== undefined) return undefined
    return this.#digest !== undefined && timingSafeEqual(this.#digest, bytesOf(key))
  }

  /** Does not reject: a host whose secrets are away still serves its other keys. */
  read(): Promise<void> {
    const name = this.#unread
    if (name === undefined || performance.now() < this.#nextAttemptAt) return DONE
    this.#attempt ??= this.#read(name).finally(() => {
      this.#attempt = undefined
    })
    return this.#attempt
  }

  async #read(name: string): Promise<void> {
    try {
      const secret = await within(WAIT_MS, this.#secrets.get(name))
      this.#unread = undefined
      const flaw = flawOf(secret)
      if (flaw)
        this.#log.warn({ secretName: name }, `there is no bootstrap key: its secret ${flaw}`)
      else this.#digest = bytesOf(secret as string)
    } catch (error) {
      this.#nextAttemptAt = performance.now() + PAUSE_MS
      const { message } = error as Error
      this.#log.warn({ secretName: name, reason: message }, 'the bootstrap key cannot be read yet')
    }
  }
}

const DONE = Promise.resolve()

const bytesOf = (key: string): Buffer => hash('sha256', key, 'buffer')

function flawOf(secret: string | null): string | undefined {
  if (secret === null) return 'is not set'
  if (secret.length < SHORTEST) return `is shorter than ${SHORTEST} characters`
  if (!SENDABLE.test(secret)) return 'has a character that no header can carry in a key'
  return undefined
}
