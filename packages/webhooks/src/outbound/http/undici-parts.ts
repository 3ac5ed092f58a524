/**
 * The parts of undici that are used here. With the rest (its fetch, caches and mocks) a process
 * takes 5 MB more, and is loaded in 35 ms more. undici does not promise these paths: a version without
 * them is loaded whole.
 */
import { createRequire } from 'node:module'
import type * as Undici from 'undici'

interface Parts extends Pick<typeof Undici, 'Agent' | 'buildConnector'> {
  /** A method of `Agent`, which has it only where undici was loaded whole. */
  request: Undici.Agent['request']
}

export function loadParts(load: (path: string) => unknown): Parts {
  try {
    return {
      Agent: load('undici/lib/dispatcher/agent.js') as Parts['Agent'],
      buildConnector: load('undici/lib/core/connect.js') as Parts['buildConnector'],
      request: load('undici/lib/api/api-request.js') as Parts['request'],
    }
  } catch {
    const { Agent, buildConnector } = load('undici') as typeof Undici
    return { Agent, buildConnector, request: Agent.prototype.request }
  }
}

export const { Agent, buildConnector, request } = loadParts(createRequire(import.meta.url))
