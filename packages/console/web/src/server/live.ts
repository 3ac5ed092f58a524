/** The stream of hints of the page: they name what changed, and what is shown of it is read again. */
import type { Hint } from './contract.ts'
import { hint } from '../state/queries.ts'
import { urlOf } from './call.ts'

type Listener = () => void

const states = new Set<(connected: boolean) => void>()
let stream: EventSource | undefined
let connected = false
let wanted = false
let failures = 0
let retry: ReturnType<typeof setTimeout> | undefined

const RETRY_MS = [2000, 4000, 8000, 15_000, 30_000]

/**
 * Opens the stream while the page is shown. A hidden page has none: a browser has six connections to a
 * host over HTTP/1.1, and each open stream keeps one.
 */
export function openStream(): void {
  wanted = true
  document.addEventListener('visibilitychange', follow)
  follow()
}

export function closeStream(): void {
  wanted = false
  document.removeEventListener('visibilitychange', follow)
  end()
}

function follow(): void {
  if (wanted && !document.hidden) begin()
  else end()
}

function begin(): void {
  if (stream) return
  clearTimeout(retry)
  const opened = new EventSource(urlOf('api/live'), { withCredentials: true })
  stream = opened
  opened.addEventListener('open', () => {
    failures = 0
    setConnected(true)
    // There were no hints of changes from before the stream was open.
    hint()
  })
  opened.addEventListener('error', () => {
    if (stream !== opened) return
    setConnected(false)
    // After an answer other than 200 the browser does not try again (HTML Standard, section 9.2.3).
    if (opened.readyState !== EventSource.CLOSED) return
    end()
    for (const listener of lost) listener()
    retry = setTimeout(follow, RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)])
  })
  opened.addEventListener('message', ({ data }) => hint((JSON.parse(String(data)) as Hint).type))
}

function end(): void {
  clearTimeout(retry)
  stream?.close()
  stream = undefined
  setConnected(false)
}

const lost = new Set<Listener>()

/** Calls `listener` when the server has refused the stream: the session may have ended. */
export function whenStreamLost(listener: Listener): () => void {
  lost.add(listener)
  return () => lost.delete(listener)
}

export function watchStream(watcher: (connected: boolean) => void): () => void {
  states.add(watcher)
  watcher(connected)
  return () => states.delete(watcher)
}

function setConnected(now: boolean): void {
  connected = now
  for (const watcher of states) watcher(now)
}
