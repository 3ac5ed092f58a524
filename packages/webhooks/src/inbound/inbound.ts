import { inspect } from 'node:util'
import { Sent, SENT } from '@svc/providers/internal'
import type { Plan } from './receive.ts'
import { RequestSecrets } from './request-secrets.ts'
import type { InboundRequest, SecretLookup } from './source.ts'
import type { Asking, Source } from './sources.ts'

/** A request on its way through the steps of receive.ts: its body, its secrets, and what came of it. */
export class Inbound extends Sent {
  declare readonly request: InboundRequest
  readonly source: Source
  readonly secrets: RequestSecrets
  /** When its first byte came, by `performance.now()`. */
  readonly began: number
  /** Whether the source's `verify` let it through. */
  isVerified = false
  /** What is to be published, once that is known. */
  plan: Plan | null = null
  readonly #getSecret: (name: string) => Promise<string | null>
  #throwers: [error: Error, name: string][] = []

  constructor(
    source: Source,
    request: InboundRequest,
    getSecret: (name: string) => Promise<string | null> = async () => null,
    began = performance.now(),
  ) {
    super(request)
    this.source = source
    this.#getSecret = getSecret
    this.secrets = new RequestSecrets((name) => this.#lookUp(name))
    this.began = began
    ;(request as { [SENT]?: Sent })[SENT] = this
  }

  /** That of a request, or a new one where it failed before it was received. */
  static of(source: Source, request: InboundRequest, began: number): Inbound {
    const known = (request as { [SENT]?: Sent | null })[SENT]
    return known instanceof Inbound ? known : new Inbound(source, request, undefined, began)
  }

  #lookUp(name: string): Promise<string | null> {
    return this.calling('the option secrets of svcCore', () => this.#getSecret(name))
  }

  /** Calls a function of the source that may ask for secrets. */
  asking<Answer>(
    field: Asking,
    run: (secret: SecretLookup) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    const { expected } = this.source
    return this.calling(field, () => this.secrets.call(expected[field], this.request, run))
  }

  /** Calls a function of the host, and notes its name where it throws. The innermost name counts. */
  calling<Result>(name: string, run: () => Result): Result {
    const failed = (thrown: unknown): never => {
      const error = errorOf(thrown)
      if (this.throwerOf(error) === undefined) this.#throwers.push([error, name])
      throw error
    }
    try {
      const result = run()
      return result instanceof Promise ? (result.catch(failed) as Result) : result
    } catch (error) {
      return failed(error)
    }
  }

  /**
   * Which function of the host threw an error. The inbound log names it: the error's own message may
   * quote a payload, and is left to the log of the host.
   */
  throwerOf(error: Error): string | undefined {
    return this.#throwers.find(([thrown]) => thrown === error)?.[1]
  }

  /** The error in place of one that quotes a secret. */
  withheld(error: Error): Error {
    const safe = new Error(`${error.name}: its message is withheld because it quotes a secret`)
    const thrower = this.throwerOf(error)
    if (thrower !== undefined) this.#throwers.push([safe, thrower])
    return safe
  }
}

/** Stands for a thrown value that is no Error: such a value has neither a message nor a stack to log. */
export class NotAnError extends Error {
  override name = 'NotAnError'
  /** The type of the value, which may quote a payload itself. */
  readonly type: string

  constructor(thrown: unknown) {
    const text = inspect(thrown, { customInspect: false, depth: 1, maxStringLength: 200 })
    super(`a value was thrown that is not an Error: ${text}`)
    this.type = thrown === null ? 'null' : typeof thrown
  }
}

export const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new NotAnError(thrown)
