/**
 * The parts of undici that are used here. With the rest (its fetch, caches and mocks) a process
 * takes 5 MB more, and is loaded in 35 ms more. undici does not promise these paths: a version without
 * them is loaded whole.
 */
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type * as Undici from 'undici'

type Request = Undici.Agent['request']
interface Parts extends Pick<typeof Undici, 'Agent' | 'buildConnector'> {
  /** `agent.request`, which an agent has only where undici was loaded whole. */
  request: (agent: Undici.Agent, options: Parameters<Request>[0]) => ReturnType<Request>
}

/** What `require` says of a path that is not there, or not exported. */
const MOVED = new Set(['MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'])

export function loadParts(load: (path: string) => unknown): Parts {
  try {
    const request = load('undici/lib/api/api-request.js') as Request
    return {
      Agent: load('undici/lib/dispatcher/agent.js') as Parts['Agent'],
      buildConnector: load('undici/lib/core/connect.js') as Parts['buildConnector'],
      request: (agent, options) => request.call(agent, options),
    }
  } catch (error) {
    if (!MOVED.has(String((error as NodeJS.ErrnoException).code))) throw error
    const { Agent, buildConnector } = load('undici') as typeof Undici
    return { Agent, buildConnector, request: (agent, options) => agent.request(options) }
  }
}

export const { Agent, buildConnector, request } = loadParts(createRequire(import.meta.url))

interface Parser {
  ptr: number
  llhttp?: { llhttp_set_lenient_keep_alive(parser: number, isLenient: 1): void }
  onHeadersComplete(status: number, ...rest: unknown[]): unknown
}

/**
 * Has every interim answer passed over but 101 (RFC 9110, section 15.2), also where nobody asked for
 * it. undici ends the connection at a 100, and has no option for that: its parser, a property of the
 * connection, is told of another interim status. The final answer is also read after an interim one
 * that says `Connection: close`, or is of HTTP/1.0.
 */
export function passOverInterims(socket: Socket): void {
  const key = Object.getOwnPropertySymbols(socket).find((one) => one.description === 'parser')
  const parser = key && (socket as unknown as Record<symbol, Parser | null>)[key]
  if (!parser?.llhttp) return
  const passOn = parser.onHeadersComplete.bind(parser)
  parser.onHeadersComplete = (status, ...rest) => passOn(status === 100 ? 102 : status, ...rest)
  parser.llhttp.llhttp_set_lenient_keep_alive(parser.ptr, 1)
}
