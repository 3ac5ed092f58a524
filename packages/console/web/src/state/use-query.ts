/** Reads something from the server, and reads it again on a hint that it changed. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from '../server/call.ts'
import { useLive, type Topic } from '../server/live.ts'

export interface Query<Data> {
  data: Data | undefined
  problem: Problem | undefined
  loading: boolean
  reload: () => void
}

/** A hint leaves a read alone that has been under way for less than this. */
const PATIENCE_MS = 10_000

/**
 * `key` identifies what is read: when it changes, the former answer is dropped. `null` reads
 * nothing. `reload` ends a read under way and begins another. A hint waits for the one under way: where
 * answers take longer than the time between two hints, none would ever be shown.
 */
export function useQuery<Data>(
  key: string | null,
  read: (signal: AbortSignal) => Promise<Data>,
  topics: readonly Topic[] = [],
): Query<Data> {
  const [state, setState] = useState<{ key: string | null; data?: Data; problem?: Problem }>({
    key,
  })
  const [round, setRound] = useState(0)
  const latest = useRef(read)
  latest.current = read
  const underWay = useRef<{ since: number; hinted: boolean } | null>(null)
  useEffect(() => {
    if (key === null) return
    const controller = new AbortController()
    const current = { since: performance.now(), hinted: false }
    underWay.current = current
    latest
      .current(controller.signal)
      .then((data) => setState({ key, data }))
      .catch((error: unknown) => {
        if (controller.signal.aborted) return
        setState((before) => ({
          key,
          problem: asProblem(error),
          ...(before.key === key && before.data !== undefined && { data: before.data }),
        }))
      })
      .finally(() => {
        if (underWay.current !== current) return
        underWay.current = null
        if (current.hinted) reload()
      })
    return () => controller.abort()
  }, [key, round])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  useLive(topics, () => {
    const { current } = underWay
    if (current && performance.now() - current.since < PATIENCE_MS) current.hinted = true
    else reload()
  })
  const known = state.key === key
  return {
    data: known ? state.data : undefined,
    problem: known ? state.problem : undefined,
    loading: key !== null && !(known && (state.data !== undefined || state.problem)),
    reload,
  }
}

export const asProblem = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem(0, 'page', error instanceof Error ? error.message : String(error))
