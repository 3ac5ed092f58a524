/** Signed requests of many providers, for tests of whatever verifies them. */
import { readFileSync } from 'node:fs'

/** Where a request comes from. */
export interface VectorSource {
  /** Published by the provider, made by its SDK, or accepted by it. */
  type: 'published' | 'official-sdk-generated' | 'accepted-by-official-sdk'
  url?: string
  repo?: string
  path?: string
  commit?: string
  package?: string
  version?: string
  api?: string
  also?: string
  note?: string
  payloadFrom?: string
}

/** One request and what a verifier must answer to it. */
export interface Vector {
  id: string
  /** The id of the preset that verifies it. */
  provider: string
  scheme?: string
  method: string
  /** Where the sender saw the receiver, for schemes that sign it. */
  url?: string
  headers: Record<string, string>
  body: string
  /** What a verifier must answer. */
  valid: boolean
  /** Why it is not valid. */
  reason?: string
  /** Unix seconds at which the request arrives; any time where it is not set. */
  now?: number
  toleranceSeconds?: number
  /** What the receiver holds; of several any may sign. */
  secret?: string | string[]
  publicKey?: string
  signingKey?: string
  certificate?: string
  /** The key set that the provider serves. */
  keySet?: string
  webhookId?: string
  /** Other options that the receiver gives. */
  options?: Record<string, unknown>
  signedString?: string
  formParams?: Record<string, string | string[]>
  /** The answer that the provider expects. */
  response?: { status: number; json: unknown }
  /** What was changed of a genuine request. */
  derivation?: string
  note?: string
  source: VectorSource
}

const file = new URL('vectors/inbound.json', import.meta.url)

/** Genuine and forged requests, each with its source. */
export const vectors: readonly Vector[] = (
  JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }
).vectors
