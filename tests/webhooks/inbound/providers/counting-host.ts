// A host of sources without a database: its events are only counted.
import { createHmac } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { InboundSource } from '@svc/webhooks'
import {
  ProviderClient,
  type GuardedFetch,
} from '../../../../packages/providers/src/provider-client.ts'
import type { Receiving } from '../../../../packages/webhooks/src/inbound/receive.ts'
import { registerInbound } from '../../../../packages/webhooks/src/inbound/register.ts'
import { resolveSources } from '../../../../packages/webhooks/src/inbound/sources.ts'
import { newHost } from '../../../support/new-host.ts'

export interface Host {
  app: FastifyInstance
  /** The names of the events that were published. */
  published: string[]
  /** Their payloads, as JSON text. */
  payloads: string[]
  secrets: Record<string, string | null>
}

interface Published {
  name: string
  payload: string
  deduplicationKey: { key: string } | null
}

const away: GuardedFetch = async () => {
  throw new Error('nothing is to be fetched')
}

/** A host with one source, or several, whose events are only counted. */
export function hostOf(
  t: Test,
  source: InboundSource | Record<string, InboundSource>,
  secrets: Host['secrets'] = {},
  fetch = away,
  roots?: readonly string[],
): Host {
  const published: string[] = []
  const payloads: string[] = []
  const keys = new Set<string>()
  const core = {
    svc: { secrets: { get: async (name: string) => secrets[name] ?? null } },
    bus: {
      publish: async (events: Published[]) => {
        const first = events.filter(({ deduplicationKey }) => {
          if (deduplicationKey === null) return true
          const isFirst = !keys.has(deduplicationKey.key)
          keys.add(deduplicationKey.key)
          return isFirst
        })
        published.push(...first.map(({ name }) => name))
        payloads.push(...first.map(({ payload }) => payload))
        return events.map((event, place) => (first.includes(event) ? { id: `e${place}` } : null))
      },
    },
  }
  const app = newHost(t)
  registerInbound(app, resolveSources('verify' in source ? { a: source } : source), {
    core: core as unknown as Receiving['core'],
    providerClient: new ProviderClient(fetch, Date.now, roots),
    log: null,
    bodyLimitBytes: 100_000,
  })
  return { app, published, payloads, secrets }
}

const json = { 'content-type': 'application/json' }
export const post = (
  app: FastifyInstance,
  body: string,
  headers: Record<string, string> = {},
  url = '/a',
) => app.inject({ method: 'POST', url, headers: { ...json, ...headers }, body })
export const hex = (body: string, key: string) =>
  createHmac('sha256', key).update(body).digest('hex')
