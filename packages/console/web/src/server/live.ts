/**
 * The stream of hints of the page: they name what changed, and what is shown of it is read again. The
 * windows of a browser share one: whoever has the lock opens it, and tells the others what it hears.
 */
import type { Hint } from './contract.ts'
import { awaitStream, hint } from '../state/queries.ts'
import { basePath, urlOf } from './call.ts'

type Listener = () => void

/** `asked`: a window that begins to listen. `state`: the answer. */
type Told =
  | { asked: true }
  | { state: boolean }
  | { opened: true }
  | { refused: true }
  | { hint: Hint['type'] }

const NAME = `svc-console-live ${basePath}`
const RETRY_MS = [2000, 4000, 8000, 15_000, 30_000]

const states = new Set<(connected: boolean) => void>()
const lost = new Set<Listener>()
let stream: EventSource | undefined
let connected = false
let wanted = false
let failures = 0
/** Called once, when the stream that was asked for is open, or is not. */
let arrived: ((isOpen: boolean) => void) | undefined
let retry: ReturnType<typeof setTimeout> | undefined
/** While this window listens: how it stops. */
let leave: AbortController | undefined
/** A browser has locks on secure origins alone: elsewhere each window has a stream. */
let others: BroadcastChannel | undefined

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
  if (leave) return
  const ending = new AbortController()
  leave = ending
  arrived = awaitStream()
  const { signal } = ending
  if (!('locks' in navigator)) {
    connect(signal)
    return
  }
  others = new BroadcastChannel(NAME)
  others.addEventListener('message', ({ data }) => heard(data as Told))
  tell({ asked: true })
  const ended = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  )
  const hold = () => {
    connect(signal)
    return ended
  }
  // It rejects where this window leaves before it is its turn.
  navigator.locks.request(NAME, { signal }, hold).catch(() => {})
}

function end(): void {
  leave?.abort()
  leave = undefined
  arrived = undefined
  disconnect()
  others?.close()
  others = undefined
  setConnected(false)
}

const tell = (told: Told): void => others?.postMessage(told)

/** What another window says. */
function heard(told: Told): void {
  if ('asked' in told) {
    if (stream) tell({ state: connected })
  } else if (stream) {
    // Only who has none listens to others.
  } else if ('state' in told) {
    if (told.state && !connected) catchUp()
    setConnected(told.state)
  } else if ('opened' in told) {
    setConnected(true)
    catchUp()
  } else if ('refused' in told) refused()
  else hint(told.hint)
}

function connect(signal: AbortSignal): void {
  if (signal.aborted || stream) return
  const opened = new EventSource(urlOf('api/live'), { withCredentials: true })
  stream = opened
  opened.addEventListener('open', () => {
    failures = 0
    setConnected(true)
    tell({ opened: true })
    catchUp()
  })
  opened.addEventListener('error', () => {
    if (stream !== opened) return
    setConnected(false)
    tell({ state: false })
    // After an answer other than 200 the browser does not try again (HTML Standard, section 9.2.3).
    if (opened.readyState !== EventSource.CLOSED) return
    disconnect()
    refused()
    tell({ refused: true })
    retry = setTimeout(() => connect(signal), RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)])
  })
  opened.addEventListener('message', ({ data }) => {
    const { type } = JSON.parse(String(data)) as Hint
    hint(type)
    tell({ hint: type })
  })
}

/** There were no hints of changes from before the stream was open. */
function catchUp(): void {
  if (arrived) arrived(true)
  else hint()
  arrived = undefined
}

function disconnect(): void {
  clearTimeout(retry)
  stream?.close()
  stream = undefined
}

function refused(): void {
  arrived?.(false)
  arrived = undefined
  for (const listener of lost) listener()
}

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
