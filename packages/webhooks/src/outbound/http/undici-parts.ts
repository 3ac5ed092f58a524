/**
 * The parts of undici that are used here. With the rest (its fetch, caches and mocks) a process
 * takes 5 MB more, and is loaded in 35 ms more. undici does not promise these paths: a version without
 * them is loaded whole.
 */
import { createRequire } from 'node:module'
import type * as Undici from 'undici'

type Request = Undici.Agent['request']
interface Parts extends Pick<typeof Undici, 'Agent' | 'buildConnector'> {
  /** `agent.request`, which an agent has only where undici was loaded whole. */
  request: (agent: Undici.Agent, options: Parameters<Request>[0]) => ReturnType<Request>
}

export function loadParts(load: (path: string) => unknown): Parts {
  try {
    const request = load('undici/lib/api/api-request.js') as Request
    return {
      Agent: load('undici/lib/dispatcher/agent.js') as Parts['Agent'],
      buildConnector: load('undici/lib/core/connect.js') as Parts['buildConnector'],
      request: (agent, options) => request.call(agent, options),
    }
  } catch {
    const { Agent, buildConnector } = load('undici') as typeof Undici
    return { Agent, buildConnector, request: (agent, options) => agent.request(options) }
  }
}

export const { Agent, buildConnector, request } = loadParts(createRequire(import.meta.url))
