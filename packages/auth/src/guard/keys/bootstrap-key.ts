/** The bootstrap key: the value of a secret and not a row, for the first steps of a new host. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { LONGEST_KEY } from '../../key-format.ts'
import { withTimeout } from './statements.ts'

const SHORTEST = 16
const READ_TIMEOUT_MS = 2000
const RETRY_MS = 1000
/** How often the secret is read. A former secret stays valid for up to this time. */
const REREAD_MS = 5000
/** A header can carry it as one token. */
const SENDABLE = /^[\x21-\x7e]+$/

export interface SecretSource {
  get(name: string): Promise<string | null>
}

export interface BootstrapKeyParts {
  secrets: SecretSource
  /** Name of the secret; without one there is no bootstrap key. */
  name: string | undefined
  log: FastifyBaseLogger
  /** Called when the secret has changed, with the hashes of the old and the new one. */
  forget: (hashes: readonly string[]) => void
}

export class BootstrapKey {
  #parts: BootstrapKeyParts
  #hash: Buffer | undefined
  /** What the last warning was about. */
  #warned: string | undefined
  #isRead = false
  #attempt: Promise<void> | undefined
  #nextAttemptAt = 0
  #timer: NodeJS.Timeout | undefined

  constructor(parts: BootstrapKeyParts) {
    this.#parts = parts
    this.#isRead = parts.name === undefined
  }

  /** Reads the secret where that has not succeeded yet. Does not reject. */
  async tryRead(): Promise<void> {
    if (!this.#isRead && performance.now() >= this.#nextAttemptAt) await this.read()
  }

  /**
   * Compares in constant time. `undefined` where the secret could not be read yet, so that the
   * bootstrap key is not known.
   */
  matches(key: string): boolean | undefined {
    if (!this.#isRead) return undefined
    return this.#hash !== undefined && timingSafeEqual(this.#hash, bytesOf(key))
  }

  /**
   * A text that is equal for equal salts and keys; `null` where there is no bootstrap key, `undefined`
   * where it is not known. Without the salt, the text cannot be used to test guessed keys.
   */
  seal(salt: string): string | null | undefined {
    if (!this.#isRead) return undefined
    return this.#hash ? createHmac('sha256', salt).update(this.#hash).digest('base64url') : null
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
   * Does not reject: a host that cannot read its secrets still accepts its other keys, and the
   * bootstrap key that was read before.
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
      const secret = await withTimeout(READ_TIMEOUT_MS, this.#parts.secrets.get(name))
      this.#use(problemOf(secret), secret)
    } catch (error) {
      // The option `secrets` is the host's: it may have thrown anything.
      const { message = 'no reason given', code } = (error ?? {}) as {
        message?: string
        code?: string
      }
      if (code === 'SVC_CORE_INVALID_SECRET') {
        this.#use('is not a string', null)
        return
      }
      this.#nextAttemptAt = performance.now() + RETRY_MS
      this.#warn(this.#isRead ? NOT_READ_AGAIN : NOT_READ, message)
    }
  }

  #use(problem: string | undefined, secret: string | null): void {
    this.#isRead = true
    if (problem === undefined) this.#warned = undefined
    else this.#warn(NOT_USABLE, problem, problem)
    const secretHash = problem === undefined ? bytesOf(secret as string) : undefined
    const changed = [this.#hash, secretHash].filter((one) => one !== undefined)
    if (this.#hash && secretHash && timingSafeEqual(this.#hash, secretHash)) return
    this.#hash = secretHash
    if (changed.length > 0) this.#parts.forget(changed.map((bytes) => bytes.toString('latin1')))
  }

  /** `what`: a warning about the same as the last one is not repeated. */
  #warn(message: string, reason: string, what = message): void {
    if (this.#warned === what) return
    this.#warned = what
    this.#parts.log.warn({ secretName: this.#parts.name, reason }, message)
  }
}

const NOT_USABLE = 'the bootstrap key is off: its secret cannot be used'
const NOT_READ = 'could not read the secret of the bootstrap key; it tries again'
const NOT_READ_AGAIN =
  'could not read the secret of the bootstrap key again; the last value stays valid'

const bytesOf = (key: string): Buffer => hash('sha256', key, 'buffer')

function problemOf(secret: string | null): string | undefined {
  if (secret === null) return 'is not set'
  if (secret.length < SHORTEST) return `is shorter than ${SHORTEST} characters`
  if (secret.length > LONGEST_KEY) return `is longer than ${LONGEST_KEY} characters`
  if (!SENDABLE.test(secret)) return 'has a character that no header can carry in a key'
  return undefined
}
