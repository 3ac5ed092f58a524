/** A list that is read page by page: newest first, `after` the last row shown. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Page } from '../server/contract.ts'
import type { Problem } from '../server/call.ts'
import { useLive, type Topic } from '../server/live.ts'
import { asProblem } from './use-query.ts'

export interface Pages<Row> {
  rows: Row[] | undefined
  problem: Problem | undefined
  hasMore: boolean
  /** The page ended early: there may be more of what is looked for, further on. */
  isCut: boolean
  loadingMore: boolean
  more: () => void
  reload: () => void
}

interface State<Row> {
  key: string
  rows?: Row[]
  next: string | null
  isCut?: boolean
  problem?: Problem
}

export function usePages<Row>(
  key: string,
  read: (
    after: string | undefined,
    signal: AbortSignal,
  ) => Promise<Page<Row> & { complete?: boolean }>,
  topics: readonly Topic[] = [],
): Pages<Row> {
  const [state, setState] = useState<State<Row>>({ key, next: null })
  const [round, setRound] = useState(0)
  const [loadingMore, setLoadingMore] = useState(false)
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    const controller = new AbortController()
    latest
      .current(undefined, controller.signal)
      .then(({ items, next, complete }) =>
        setState({ key, rows: items, next, isCut: complete === false }),
      )
      .catch((error: unknown) => {
        if (controller.signal.aborted) return
        setState((before) => ({
          ...(before.key === key ? before : { key, next: null }),
          problem: asProblem(error),
        }))
      })
    return () => controller.abort()
  }, [key, round])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  const known = state.key === key
  // A list that was read further stays as it is: its reader would lose the place.
  const extended = useRef(false)
  useEffect(() => {
    extended.current = false
  }, [key, round])
  useLive(topics, () => extended.current || reload())
  const more = () => {
    if (!state.next || loadingMore) return
    extended.current = true
    setLoadingMore(true)
    latest
      .current(state.next, new AbortController().signal)
      .then(({ items, next, complete }) =>
        setState((before) =>
          before.key === key
            ? { key, rows: [...(before.rows ?? []), ...items], next, isCut: complete === false }
            : before,
        ),
      )
      .catch((error: unknown) => setState((before) => ({ ...before, problem: asProblem(error) })))
      .finally(() => setLoadingMore(false))
  }
  return {
    rows: known ? state.rows : undefined,
    problem: known ? state.problem : undefined,
    hasMore: known && state.next !== null,
    isCut: known && state.isCut === true,
    loadingMore,
    more,
    reload,
  }
}
