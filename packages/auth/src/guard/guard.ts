/** The guard: one synchronous hook before every route. What it cannot tell, it refuses. */
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { digestOf, LONGEST_KEY, prefixOf } from '../key-format.ts'
import { isReading } from '../scopes.ts'
import { logRefusal, type Facts } from './refusal-log.ts'
import { NO_KEY, presentedKey } from './credentials.ts'
import type { Keyring, Rejection } from './keys/key-cache.ts'
import { isExpired, meets, type Auth, type KnownKey } from './keys/cached-key.ts'
import type { LastUsed } from './keys/last-used.ts'
import type { Lease } from './keys/cache-lease.ts'
import type { Decision, Guarded } from './policy/route-policy.ts'
import type { RateLimiter } from './lockout/lockout.ts'
import type { Block, Recognizer } from './keys/authenticator.ts'
import {
  BLOCKED,
  INVALID_KEY,
  MISSING_KEY,
  refuse,
  UNAVAILABLE,
  UNCLEAR_KEY,
  type Refusal,
} from './refusals.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; `null` on a path that needs no key. */
    auth: Auth | null
  }
}

export interface GuardParts {
  policyOf: (request: FastifyRequest) => Decision
  keyring: Keyring
  lease: Lease
  recognizer: Recognizer
  limiter: RateLimiter | null
  lastUsed: LastUsed
  /** Tells others who asks, apart from `request.auth`. */
  mirror: ((request: FastifyRequest, auth: Auth) => void) | null
  log: FastifyBaseLogger
}

type Done = () => void
const RETRY_AFTER_SECONDS = 1

export function makeGuard(parts: GuardParts) {
  const { policyOf, keyring, lease, recognizer, limiter, lastUsed, mirror, log } = parts

  return function svcAuthGuard(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const policy = policyOf(request)
    if (policy.kind === 'open') {
      request.auth = null
      done()
      return
    }
    const key = presentedKey(rawHeadersOf(request))
    if (typeof key !== 'string') {
      if (key === NO_KEY) deny(request, reply, MISSING_KEY, { verdict: 'missing' })
      else deny(request, reply, UNCLEAR_KEY, { verdict: 'unclear' })
      return
    }
    const digest = key.length > LONGEST_KEY ? '' : digestOf(key)
    const known = keyring.known(digest)
    if (known !== undefined && lease.isHeld() && !needsCare(known)) {
      admit(known, policy, request, reply, done)
      return
    }
    // Two arguments, no `catch`: what `done` throws is no failure to recognize.
    recognizer.recognize(key, digest).then(
      (answer) => {
        if ('auth' in answer) admit(answer, policy, request, reply, done)
        else reject(answer, prefixOf(key), request, reply)
      },
      (error: Error) => {
        const facts = { verdict: 'unavailable', reason: error.message } as const
        deny(request, reply, UNAVAILABLE, facts, RETRY_AFTER_SECONDS)
      },
    )
  }

  function admit(
    known: KnownKey,
    policy: Guarded,
    request: FastifyRequest,
    reply: FastifyReply,
    done: Done,
  ): void {
    if (limiter !== null && known.prefix !== null) known.prefix.usedIn = limiter.round
    if (known.notedIn !== lastUsed.round) lastUsed.note(known)
    const { auth } = known
    const required = isReading(request.method) ? policy.reading : policy.other
    if (!meets(known, required)) {
      const { keyId, userId } = auth
      deny(request, reply, required.refusal, { verdict: 'insufficient scope', keyId, userId })
      return
    }
    request.auth = auth
    if (mirror !== null) mirror(request, auth)
    done()
  }

  function reject(
    answer: Rejection | Block,
    keyPrefix: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const { verdict, keyId } = answer
    const facts = keyId === null ? { verdict, keyPrefix } : { verdict, keyId }
    if (verdict !== 'blocked') deny(request, reply, INVALID_KEY, facts)
    else deny(request, reply, BLOCKED, facts, Math.ceil(answer.forMs / 1000))
  }

  function deny(
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: Refusal,
    facts: Facts,
    retryAfterSeconds?: number,
  ): void {
    logRefusal(log, request, facts)
    refuse(reply, refusal, retryAfterSeconds)
  }
}

const needsCare = (known: KnownKey): boolean =>
  isExpired(known) || (known.prefix !== null && known.prefix.needsCare)

/** A request that was made up in this process, such as an injected WebSocket, may have none. */
const rawHeadersOf = ({ raw }: FastifyRequest): readonly string[] =>
  raw.rawHeaders ?? Object.entries(raw.headers).flat()
