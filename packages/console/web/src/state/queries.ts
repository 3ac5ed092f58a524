/**
 * What the page has read from the server, and when it is read again: by call, on a hint of the stream,
 * and after a change by the user.
 */
import {
  hashKey,
  keepPreviousData,
  MutationCache,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  type InfiniteData,
  type Query,
  type UseQueryResult,
} from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CallInput, CallName, CallResult, Hint, Page } from '../server/contract.ts'
import { asProblem, call, mayPass, type Problem } from '../server/call.ts'

type Topic = Hint['type']

/** What changes the answer of a call: by its name, else by the part of it before the dot. */
const TOPICS: Record<string, readonly Topic[]> = {
  webhooks: ['webhooks'],
  deliveries: ['deliveries'],
  deadLetters: ['deliveries', 'webhooks'],
  stats: ['deliveries'],
  events: ['deliveries'],
  inbound: ['inbound'],
  users: ['users'],
  keys: ['keys'],
  tenants: ['users', 'keys', 'webhooks'],
  sessions: ['session'],
  audit: ['audit'],
  health: ['deliveries'],
  'health.processes': [],
  handlers: ['deliveries'],
  pauses: ['deliveries'],
  // A form is filled from them, and keeps what it was filled with.
  'webhooks.name': [],
  'webhooks.secrets': [],
  'webhooks.tryFilter': [],
  'webhooks.recover': [],
  'webhooks.recoverMany': [],
  // What was made is on show, in a dialog that goes with the old key.
  'keys.rotate': [],
}
const topicsOf = (name: unknown): readonly Topic[] =>
  TOPICS[String(name)] ?? TOPICS[String(name).split('.')[0] ?? ''] ?? []
/** Queries of one of the topics, or of any. */
const isOf =
  (topics?: readonly Topic[]) =>
  ({ queryKey }: Query): boolean =>
    topicsOf(queryKey[0]).some((topic) => topics?.includes(topic) ?? true)

export const queries = new QueryClient({
  defaultOptions: {
    // An answer is shared by the parts of a screen, and goes with the last of them.
    queries: { gcTime: 0, retry: false, refetchOnWindowFocus: false, networkMode: 'always' },
    // What is made may be a secret: nothing keeps it.
    mutations: { gcTime: 0, networkMode: 'always' },
  },
  mutationCache: new MutationCache({
    // Not `onSuccess`: a screen that is left then, as after a deletion, reads nothing again.
    onSettled: (_result, error, _input, _context, { options: { mutationKey: [name] = [] } }) => {
      if (!error) void queries.invalidateQueries({ predicate: isOf(topicsOf(name)) })
    },
  }),
})

/** How long a read waits for the stream of hints. */
const GATE_MS = 1500
let gate: Promise<void> | undefined
/** What was read, or was being read, before the stream was asked for: it may have changed until it is open. */
let before: readonly Query[] = []

/**
 * The stream is being opened: reads wait for it, a moment at most. What changes after it is open is hinted at, so
 * that nothing has to be read twice. Returns what to call when it is open, or refused.
 */
export function awaitStream(): (isOpen: boolean) => void {
  before = queries.getQueryCache().findAll({ predicate: isOf() })
  const { promise, resolve } = Promise.withResolvers<void>()
  const opened = promise.then(() => {
    if (gate === opened) gate = undefined
  })
  gate = opened
  setTimeout(resolve, GATE_MS)
  return (isOpen) => {
    // Where it took longer, other reads did not wait for it.
    if (isOpen)
      hintOf(gate === opened ? before : queries.getQueryCache().findAll({ predicate: isOf() }))
    before = []
    resolve()
  }
}

async function gated<Result>(read: () => Promise<Result>): Promise<Result> {
  await gate
  return read()
}

/** At most one read in this time, for however many hints. */
const QUIET_MS = 1500
/** A read that is under way for longer than this after a hint is ended, and begun again. */
const PATIENCE_MS = 10_000
/** Figures over all rows cost the database more: while hints go on, they are read this often. */
const TOTALS_MS = 15_000
const TOTALS = ['stats', 'deadLetters', 'health']
const totalsReadAt = new WeakMap<Query, number>()
const hinted = new Map<Query, number>()
let timer: ReturnType<typeof setTimeout> | undefined

/** What is shown of the topic, or of all, is read again: soon, then at most every {@link QUIET_MS}. */
export const hint = (topic?: Topic): void =>
  hintOf(queries.getQueryCache().findAll({ predicate: isOf(topic && [topic]) }))

function hintOf(changed: readonly Query[]): void {
  for (const query of changed) if (!hinted.has(query)) hinted.set(query, Date.now())
  if (hinted.size > 0) timer ??= setTimeout(readHinted, QUIET_MS)
}

/** Rows under a pointer that moves would go from under it as they are clicked. */
const HOVERED_MS = 2000
let hoveredAt = 0
addEventListener('pointermove', ({ target }) => {
  if (target instanceof Element && target.closest('.rows')) hoveredAt = Date.now()
})
const isHovered = (): boolean => Date.now() - hoveredAt < HOVERED_MS
/** The reader of a list has scrolled into it. */
const isScrolled = (): boolean =>
  (document.querySelector('main .rows')?.getBoundingClientRect().top ?? 0) < 0

/** Of lists that are shown: counts what is new without showing it. */
const looks = new Map<string, () => Promise<void>>()

function readHinted(): void {
  timer = undefined
  for (const [query, at] of hinted) {
    // Where answers take longer than the time between two hints, none would ever be shown.
    if (query.state.fetchStatus === 'fetching' && Date.now() - at < PATIENCE_MS) continue
    const look = looks.get(query.queryHash)
    if (look && isHovered()) continue
    if (!look && TOTALS.includes(String(query.queryKey[0]).split('.')[0] ?? '')) {
      if (Date.now() - (totalsReadAt.get(query) ?? 0) < TOTALS_MS) continue
      totalsReadAt.set(query, Date.now())
    }
    hinted.delete(query)
    // A list that was read further stays as it is: its reader would lose the place.
    const { pages = [] } = (query.state.data ?? {}) as Partial<InfiniteData<unknown>>
    if (look && (pages.length > 1 || isScrolled())) {
      void look()
      continue
    }
    const one = { queryKey: query.queryKey, exact: true }
    void queries.cancelQueries(one).then(() => queries.invalidateQueries(one))
  }
  if (hinted.size > 0) timer = setTimeout(readHinted, QUIET_MS)
}

export interface Answer<Data> {
  data: Data | undefined
  problem: Problem | undefined
  loading: boolean
  reload: () => void
}

type Read<Data> = Pick<UseQueryResult<Data>, 'data' | 'error' | 'isLoading'> & {
  refetch: () => unknown
}

/** Until a read that failed is answered, its problem stays: a note would come and go with each try. */
function useAnswer<Data>(key: readonly unknown[], { data, error, isLoading, refetch }: Read<Data>) {
  const hash = JSON.stringify(key)
  const failed = useRef({ hash, error })
  if (!isLoading || failed.current.hash !== hash) failed.current = { hash, error }
  const problem = failed.current.error ? asProblem(failed.current.error) : undefined
  return { data, problem, loading: isLoading && !problem, reload: () => void refetch() }
}

const AGAIN_MS = 5000
/** The server, or its database, does not answer: it is asked again until it does. */
const untilAnswered = ({ state: { error } }: { state: { error: unknown } }): number | false =>
  error !== null && error !== undefined && mayPass(asProblem(error)) ? AGAIN_MS : false

/**
 * The answer of a call, which is not made where its input is `null`. `key` identifies the answer where its
 * input does not: when it changes, the former answer is dropped.
 */
export function useCall<Name extends CallName>(
  name: Name,
  input: CallInput<Name> | (() => CallInput<Name>) | null,
  {
    key = input,
    ...options
  }: {
    key?: unknown
    gcTime?: number
    staleTime?: number
    refetchInterval?: (query: {
      state: { data: CallResult<Name> | undefined; dataUpdateCount: number }
    }) => number | false
  } = {},
): Answer<CallResult<Name>> {
  const queryKey = [name, key]
  const read = useQuery<CallResult<Name>>(
    {
      ...options,
      queryKey,
      queryFn: ({ signal }) =>
        gated(() =>
          call(name, (typeof input === 'function' ? input() : input) as CallInput<Name>, signal),
        ),
      enabled: input !== null,
      ...(!options.refetchInterval && { refetchInterval: untilAnswered }),
    },
    queries,
  )
  return useAnswer(queryKey, read)
}

/** The calls that read a list, and its rows. */
export type ListName = {
  [Name in CallName]: CallResult<Name> extends Page<unknown>
    ? CallInput<Name> extends { after?: string | undefined }
      ? Name
      : never
    : never
}[CallName]
export type RowOf<Name extends ListName> = CallResult<Name>['items'][number]

export interface Pages<Row> {
  rows: readonly Row[] | undefined
  problem?: Problem | undefined
  hasMore?: boolean
  /** How many rows are new since it was read, where its reader has scrolled or read further. */
  fresh?: number
  /** Reads it anew, from its beginning. */
  refresh?: () => void
  /** The page ended early: there may be more of what is looked for, further on. */
  isCut?: boolean
  /** Other filters are being read: the rows are still those of the former ones. */
  isFormer?: boolean
  loadingMore?: boolean
  more?: () => void
  reload: () => void
}

const KEPT_PAGES_MS = 120_000

/** A list that is read page by page: newest first, `after` the last row shown. */
export function usePages<Name extends ListName>(
  name: Name,
  input: CallInput<Name>,
): Pages<RowOf<Name>> {
  const queryKey = [name, input, 'pages']
  type Part = Page<RowOf<Name>> & { complete?: boolean }
  const read = useInfiniteQuery<Part, Error, InfiniteData<Part>, unknown[], string | null>(
    {
      queryKey,
      queryFn: ({ signal, pageParam: after }) =>
        gated(
          async () => (await call(name, { ...input, ...(after && { after }) }, signal)) as Part,
        ),
      initialPageParam: null,
      getNextPageParam: ({ next }) => next,
      // Who comes back finds the rows that were shown, and who filters sees no empty list meanwhile.
      gcTime: KEPT_PAGES_MS,
      placeholderData: keepPreviousData,
    },
    queries,
  )
  const { data, problem, reload } = useAnswer(queryKey, read)
  const { fresh, refresh } = useFresh(queryKey, data?.pages[0]?.items, async () => {
    const { items } = (await call(name, input)) as Part
    return items
  })
  return {
    fresh,
    refresh,
    rows: data?.pages.flatMap(({ items }) => items),
    problem,
    isFormer: read.isPlaceholderData,
    hasMore: read.hasNextPage,
    isCut: data?.pages.at(-1)?.complete === false,
    loadingMore: read.isFetchingNextPage,
    more: () => void read.fetchNextPage(),
    reload,
  }
}

/** What is new in a list whose rows stay where they are. */
function useFresh<Row>(
  queryKey: readonly unknown[],
  shown: readonly Row[] | undefined,
  read: () => Promise<readonly Row[]>,
) {
  const hash = hashKey(queryKey)
  const [found, setFound] = useState({ of: shown, count: 0 })
  const latest = useRef({ shown, read })
  latest.current = { shown, read }
  useEffect(() => {
    looks.set(hash, async () => {
      const rows = await latest.current.read().catch(() => [])
      const known = new Set(latest.current.shown?.map(nameOf))
      const count = rows.filter((row) => !known.has(nameOf(row))).length
      setFound({ of: latest.current.shown, count })
    })
    return () => void looks.delete(hash)
  }, [hash])
  const refresh = () => {
    scrollTo(0, 0)
    void queries.resetQueries({ queryKey, exact: true })
  }
  return { fresh: found.of === shown ? found.count : 0, refresh }
}

/** Rows have an id, or are told apart by their names. */
const nameOf = (row: unknown): string => {
  const { id, tenant, name } = row as Partial<Record<'id' | 'tenant' | 'name', string>>
  return [tenant, name, id].join('/')
}

export interface Change<Input> {
  busy: boolean
  problem: Problem | undefined
  /** What it was last run with. */
  input: Input | undefined
  run: (input: Input) => void
}

/** A change by the user: what is shown of its kind is read again after it. */
export function useChange<
  Name extends CallName,
  Input = CallInput<Name>,
  Result = CallResult<Name>,
>(
  name: Name,
  onDone: (result: Result, input: Input) => void,
  does: (input: Input) => Promise<Result> = (input) =>
    call(name, input as CallInput<Name>) as Promise<Result>,
): Change<Input> {
  const { isPending, error, variables, mutate } = useMutation<Result, Error, Input>(
    { mutationKey: [name], mutationFn: does, onSuccess: (result, input) => onDone(result, input) },
    queries,
  )
  const problem = error ? asProblem(error) : undefined
  return { busy: isPending, problem, input: variables, run: mutate }
}
