/** Sends a sample to a source as its sender would: signed with the secret that this host has for it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { hasServer, type Core } from '@svc/core/internal'
import { signedBy } from '@svc/providers/presets'
import type { FastifyInstance } from 'fastify'
import { NotTestable } from '../errors.ts'
import type { InboundTestResult } from '../inbound-schemas.ts'
import { aboutOf } from './source.ts'
import type { Source } from './sources.ts'

export interface SampleSettings {
  server: FastifyInstance
  secrets: Core['svc']['secrets']
  /** The option `inboundTests`. */
  areAllowed: boolean
}

/** Of a request for `inject`. */
type Signed = { url?: string; headers: Record<string, string>; payload: string }

/** Returns the signed request, or a text that says why none can be signed. */
async function signedFor(
  source: Source,
  { server, secrets, areAllowed }: SampleSettings,
  given?: unknown,
): Promise<Signed | string> {
  const { signs = 'its verify is a function of this host' } = aboutOf(source.verify)
  const names = source.expected.verify
  if (!areAllowed) return 'the option inboundTests is off; set it to true in development'
  if (!hasServer(server)) return 'this process has no server'
  if (/[:*]/.test(source.path)) return 'its path has parameters'
  if (typeof signs === 'string') return signs
  if (typeof names === 'function') return 'its secret depends on the request'
  const found = await Promise.all(names.map((name) => secrets.get(name))).catch(() => null)
  // The list of sources is there without them.
  if (found === null) return `its secret ${names.join(', ')} cannot be read at the moment`
  const secret = found.find((value) => value !== null && value !== '') ?? ''
  if (names.length > 0 && secret === '') return `its secret ${names.join(', ')} is not set`
  const { row, options, isOwn } = signs
  const origin = (options['publicOrigin'] as string | undefined) ?? 'https://example.com'
  const body = given ?? (isOwn ? { id: randomUUID(), sample: true } : undefined)
  try {
    return signedBy(row, body, { ...options, secret, url: `${origin}${pathOf(source, server)}` })
  } catch (error) {
    // It says what the provider signs with, and quotes no secret.
    return (error as Error).message.replace(/^signed: /, '')
  }
}

const pathOf = ({ path }: Source, { prefix }: FastifyInstance): string => `${prefix}${path}`

/** Why no sample can be sent to it; `null` where one can. */
export async function whyNotTestable(source: Source, settings: SampleSettings) {
  const signed = await signedFor(source, settings)
  return typeof signed === 'string' ? signed : null
}

/** What a sample has led to runs in it. Not the header: others can send that. */
const sampling = new AsyncLocalStorage<true>()

/** The id of an event of a sample; `undefined` for other requests. */
export const idOfSample = (): string | undefined => sampling.getStore() && `test-${randomUUID()}`

const LONGEST_ANSWER = 10_000

/**
 * Goes the way of each request to the host, its hooks included, and has a header that marks it. The id of its event
 * begins with `test-`.
 *
 * @throws NotTestable
 */
export async function sendSample(
  source: Source,
  settings: SampleSettings,
  body: unknown,
): Promise<InboundTestResult> {
  const { server } = settings
  const signed = await signedFor(source, settings, body)
  if (typeof signed === 'string') throw new NotTestable(signed)
  const { url = pathOf(source, server), headers, payload } = signed
  const marked = { ...headers, 'x-svc-test': 'true' }
  // What `inject` returns begins when it is awaited: in here.
  const answer = await sampling.run(
    true,
    async () => await server.inject({ method: 'POST', url, headers: marked, payload }),
  )
  const { statusCode, body: text } = answer
  const { status, eventId = null } = answered(text)
  const outcome =
    statusCode >= 500
      ? 'failed'
      : statusCode >= 400
        ? 'refused'
        : status === 'duplicate'
          ? status
          : 'accepted'
  return { outcome, statusCode, eventId, answer: text.slice(0, LONGEST_ANSWER) }
}

/** A source may have an answer of its own. */
function answered(text: string): { status?: string; eventId?: string | null } {
  try {
    return (JSON.parse(text) as object | null) ?? {}
  } catch {
    return {}
  }
}
