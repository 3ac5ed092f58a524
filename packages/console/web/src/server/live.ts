/** The stream of hints of the page: they name what changed, and lists that show it load again. */
import { useEffect, useRef } from 'preact/hooks'
import type { Hint } from './contract.ts'
import { urlOf } from './call.ts'

export type Topic = Hint['type']
type Listener = () => void

const listeners = new Map<Topic, Set<Listener>>()
const states = new Set<(connected: boolean) => void>()
let stream: EventSource | undefined
let connected = false

/** At most one call in this time, for however many hints. */
const QUIET_MS = 1500

export function openStream(): void {
  if (stream) return
  stream = new EventSource(urlOf('api/live'), { withCredentials: true })
  stream.addEventListener('open', () => {
    setConnected(true)
    // There were no hints of changes from before the stream was open.
    for (const topic of listeners.keys()) notify(topic)
  })
  stream.addEventListener('error', () => setConnected(false))
  stream.addEventListener('message', ({ data }) => notify((JSON.parse(String(data)) as Hint).type))
}

export function closeStream(): void {
  stream?.close()
  stream = undefined
  setConnected(false)
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

function notify(topic: Topic): void {
  for (const listener of listeners.get(topic) ?? []) listener()
}

/** Calls `refresh` when one of the topics changed: soon, then at most every {@link QUIET_MS}. */
export function useLive(topics: readonly Topic[], refresh: Listener): void {
  const latest = useRef(refresh)
  latest.current = refresh
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const onHint = () => {
      if (document.hidden) return
      timer ??= setTimeout(() => {
        timer = undefined
        latest.current()
      }, QUIET_MS)
    }
    for (const topic of topics) listenersOf(topic).add(onHint)
    return () => {
      clearTimeout(timer)
      for (const topic of topics) listenersOf(topic).delete(onHint)
    }
  }, [topics.join()])
}

function listenersOf(topic: Topic): Set<Listener> {
  const known = listeners.get(topic) ?? new Set<Listener>()
  listeners.set(topic, known)
  return known
}
