/** One page that listens: Server-Sent Events (HTML, section 9.2). */
import { PassThrough } from 'node:stream'
import { Timer } from '@svc/core/internal'
import type { Identity } from '../access/identity.ts'
import type { Hint } from '../contract/session.ts'
import type { Right } from '../rights.ts'

/** The shortest pause between two hints of a type. A page reloads at most that often. */
const PAUSE_MS = 1000
const HEARTBEAT_MS = 15_000

const NEEDS: Record<Hint['type'], Right | null> = {
  webhooks: 'webhooks:read',
  deliveries: 'deliveries:read',
  inbound: 'inbound:read',
  keys: 'keys:read',
  users: 'users:read',
  audit: 'audit:read',
  session: null,
}

export class HintStream {
  readonly body = new PassThrough()
  readonly identity: Identity
  /** Ends it where the session is no longer what it was. */
  readonly check: () => void
  #hasBegun = false
  #waiting = new Set<Hint['type']>()
  #pause = new Timer(() => this.#flush())
  #heartbeat: NodeJS.Timeout

  /** `isCurrent`: whether the session is still what it was. */
  constructor(identity: Identity, isCurrent: () => Promise<boolean>) {
    this.identity = identity
    this.check = () => {
      isCurrent().then(
        (current) => current || this.end(),
        () => this.end(),
      )
    }
    this.#heartbeat = setInterval(() => this.body.write(':\n\n'), HEARTBEAT_MS)
    this.#heartbeat.unref()
    this.body.on('error', () => {})
    this.body.once('close', () => this.#stop())
  }

  /** Opens it for its page: what changes from now on is hinted at. */
  begin(): void {
    if (this.#hasBegun || !this.body.writable) return
    this.#hasBegun = true
    // Proxies pass a body on when it begins.
    this.body.write(': hello\n\n')
  }

  hint(types: Iterable<Hint['type']>): void {
    for (const type of types) {
      const right = NEEDS[type]
      if (right === null || this.identity.rights.includes(right)) this.#waiting.add(type)
    }
    if (!this.#pause.isSet) this.#flush()
  }

  end(): void {
    this.#write('session')
    this.body.end()
    this.#stop()
  }

  #flush(): void {
    if (this.#waiting.size === 0) return
    for (const type of this.#waiting) this.#write(type)
    this.#waiting.clear()
    this.#pause.set(PAUSE_MS)
  }

  #write(type: Hint['type']): void {
    if (this.body.writable) this.body.write(`data: ${JSON.stringify({ type } satisfies Hint)}\n\n`)
  }

  #stop(): void {
    this.#pause.clear()
    clearInterval(this.#heartbeat)
    this.#waiting.clear()
  }
}
