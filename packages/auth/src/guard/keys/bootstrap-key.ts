/** The one key that stands in no table: the value of a secret, for the first steps of a new host. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { LONGEST_KEY } from '../../key-format.ts'
import { within } from './limited-pool.ts'

const SHORTEST = 16
const WAIT_MS = 2000
const PAUSE_MS = 1000
/** How often the secret is read again: so long the old one opens after a rotation. */
const REREAD_MS = 5000
/** What a header can carry as one token. */
const SENDABLE = /^[\x21-\x7e]+$/

export interface SecretSource {
  get(name: string): Promise<string | null>
}

export interface BootstrapKeyParts {
  secrets: SecretSource
  /** Name of the secret; without one there is no bootstrap key. */
  name: string | undefined
  log: FastifyBaseLogger
  /** The secret has changed: keys with these digests may have been remembered as what they were. */
  forget: (digests: readonly string[]) => void
}

export class BootstrapKey {
  #parts: BootstrapKeyParts
  #digest: Buffer | undefined
  /** What was said of the secret last: it is said once. */
  #said: string | undefined
  #isRead = false
  #attempt: Promise<void> | undefined
  #nextAttemptAt = 0
  #timer: NodeJS.Timeout | undefined

  constructor(parts: BootstrapKeyParts) {
    this.#parts = parts
    this.#isRead = parts.name === undefined
  }

  /** Reads the secret where that has not succeeded yet. Does not reject. */
  async settled(): Promise<void> {
    if (!this.#isRead && performance.now() >= this.#nextAttemptAt) await this.read()
  }

  /**
   * Compares in constant time. `undefined` as long as the secret could not be read: then it is not
   * known which key it is.
   */
  matches(key: string): boolean | undefined {
    if (!this.#isRead) return undefined
    return this.#digest !== undefined && timingSafeEqual(this.#digest, bytesOf(key))
  }

  start(): void {
    if (this.#parts.name === undefined) return
    this.#timer = setInterval(() => void this.read(), REREAD_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /**
   * Does not reject: a host whose secrets are away still serves its other keys, and the bootstrap
   * key that was read before.
   */
  read(): Promise<void> {
    const { name } = this.#parts
    if (name === undefined) return Promise.resolve()
    this.#attempt ??= this.#read(name).finally(() => {
      this.#attempt = undefined
    })
    return this.#attempt
  }

  async #read(name: string): Promise<void> {
    try {
      const secret = await within(WAIT_MS, this.#parts.secrets.get(name))
      this.#settle(flawOf(secret), secret)
    } catch (error) {
      const { message, code } = error as Error & { code?: string }
      if (code === 'SVC_CORE_INVALID_SECRET') {
        this.#settle('is not a string', null)
        return
      }
      this.#nextAttemptAt = performance.now() + PAUSE_MS
      const facts = { secretName: name, reason: message }
      const now = this.#isRead ? 'again, the last one stays valid' : 'yet'
      this.#say(`the bootstrap key cannot be read ${now}`, facts)
    }
  }

  #settle(flaw: string | undefined, secret: string | null): void {
    this.#isRead = true
    if (flaw === undefined) this.#said = undefined
    else this.#say(`there is no bootstrap key: its secret ${flaw}`)
    const digest = flaw === undefined ? bytesOf(secret as string) : undefined
    const changed = [this.#digest, digest].filter((one) => one !== undefined)
    if (this.#digest && digest && timingSafeEqual(this.#digest, digest)) return
    this.#digest = digest
    if (changed.length > 0) this.#parts.forget(changed.map((bytes) => bytes.toString('latin1')))
  }

  #say(message: string, facts: object = { secretName: this.#parts.name }): void {
    if (this.#said === message) return
    this.#said = message
    this.#parts.log.warn(facts, message)
  }
}

const bytesOf = (key: string): Buffer => hash('sha256', key, 'buffer')

function flawOf(secret: string | null): string | undefined {
  if (secret === null) return 'is not set'
  if (secret.length < SHORTEST) return `is shorter than ${SHORTEST} characters`
  if (secret.length > LONGEST_KEY) return `is longer than ${LONGEST_KEY} characters`
  if (!SENDABLE.test(secret)) return 'has a character that no header can carry in a key'
  return undefined
}
