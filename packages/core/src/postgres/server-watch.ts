/**
 * Notices connections that nobody answers any more: the server hangs, the network between drops all data, or
 * the server before which a proxy stood has been left for another one. TCP notices that after minutes, or never.
 *
 * A connection with a statement under way cannot be asked whether it is there. Another one is made, and the
 * server tells on it what the first one does. That is done only while a statement waits for longer than a second.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { within } from '../within.ts'
import { clientOf } from './connection-config.ts'
import { isSqlState } from './connection-errors.ts'

/** How often it is looked whether a statement got an answer. */
const LOOK_MS = 1000
/** How long a connection, or the server, has to answer. */
const ANSWER_MS = 3000
/** How often the server is asked while a statement takes its time. */
const PAUSE_MS = 2000
const RETRY_MS = 200
/** A limit that fires so much later: this process stood still, and the answer may be there unread. */
const STOOD_STILL_MS = 500

/** A client of pg, as far as it tells what it is doing. */
type Client = pg.ClientBase & {
  readyForQuery?: boolean
  processID?: number | null
  connection?: NodeJS.EventEmitter & {
    stream: NodeJS.EventEmitter & { bytesRead?: number; destroy(error: Error): void }
  }
}

interface Seen {
  /** Whether a pool has handed it out. */
  isOut: boolean
  /** Whether it was waiting for an answer when it was looked at last. */
  waited: boolean
  /** What had come by then. */
  bytes: number | undefined
  /** Since when its server does nothing for it, although it waits. */
  lostSince: number | undefined
}

/** What a server says of the connections that wait. */
interface Answer {
  takesWrites: boolean
  /** Process ids that the server has, each with whether it works on a statement; `null`: it does not tell. */
  works: Map<number, boolean> | null
}

const READ_ONLY = '25006'
const DISK_FULL = '53100'
/** For how long after such a statement. */
const FULL_FOR_MS = 10_000
const LOG_REFUSALS_MS = 60_000
/** There is no server that takes writes, or it is starting or shutting down. */
const NOT_THERE = /^(25006|57P0.)$/
/** As the errors of pg itself begin, see connection-errors.ts. */
const NO_ANSWER = `Connection terminated: no answer within ${ANSWER_MS / 1000} s`
const MOVED = 'Connection terminated: another server takes the writes'

const ASK = `select pg_catalog.pg_backend_pid() as me,
    pg_catalog.current_setting('transaction_read_only') = 'off' as "takesWrites",
    (select pg_catalog.json_object_agg(pid, coalesce(state, 'active') not like 'idle%')
       from pg_catalog.pg_stat_activity where pid = any($1::pg_catalog.int4[]))::pg_catalog.text as works`

export class ServerWatch {
  readonly #config: pg.PoolConfig
  readonly #logError: (error: Error) => void
  readonly #logRefusal: (error: Error) => void
  /** Whether a pooler is in between: process ids are its own, and a statement may wait for a place there. */
  #pooled = false
  #clients = new Map<Client, Seen>()
  /** Made before the server moved, and to be ended when they are free. */
  #left = new WeakSet<Client>()
  #timer: NodeJS.Timeout | undefined
  #askedAt = -Infinity
  #isReadOnly = false
  #fullAt = -Infinity
  #refusalLoggedAt = -Infinity
  #closed = false

  constructor(
    config: pg.PoolConfig,
    logError: (error: Error) => void,
    logRefusal: (error: Error) => void,
  ) {
    this.#config = config
    this.#logError = logError
    this.#logRefusal = logRefusal
  }

  markPooled(): void {
    this.#pooled = true
  }

  /** Watches all connections of a pool. The function ends that. */
  watchPool(pool: pg.Pool): () => void {
    const onAcquire = (client: pg.PoolClient) => {
      this.add(client).isOut = true
      this.wake()
    }
    const onRelease = (_: unknown, client: pg.PoolClient) => {
      const seen = this.#clients.get(client)
      if (seen) seen.isOut = false
      // The pool takes back no client that is ending.
      if (this.#left.has(client)) client.end().catch(() => {})
    }
    const onRemove = (client: pg.PoolClient) => void this.#clients.delete(client)
    pool.on('acquire', onAcquire)
    pool.on('remove', onRemove)
    pool.on('release', onRelease)
    return () => {
      pool.off('acquire', onAcquire)
      pool.off('remove', onRemove)
      pool.off('release', onRelease)
    }
  }

  add(client: Client): Seen {
    const known = this.#clients.get(client)
    if (known) return known
    const seen = { isOut: false, waited: false, bytes: undefined, lostSince: undefined }
    this.#clients.set(client, seen)
    client.once('end', () => this.#clients.delete(client))
    client.connection?.on('errorMessage', (error: pg.DatabaseError) => this.#note(error))
    return seen
  }

  forget(client: Client): void {
    this.#clients.delete(client)
  }

  /** A statement was refused. */
  #note(error: pg.DatabaseError): void {
    if (error.code !== READ_ONLY && error.code !== DISK_FULL) return
    const now = performance.now()
    if (now - this.#refusalLoggedAt >= LOG_REFUSALS_MS) {
      this.#refusalLoggedAt = now
      this.#logRefusal(error)
    }
    if (error.code === DISK_FULL) this.#fullAt = now
    else {
      this.#isReadOnly = true
      this.wake()
    }
  }

  /**
   * A disk that is full shows only in statements that write: a process with workers has one each six seconds.
   *
   * @throws as Postgres, where it refused one in the last seconds
   */
  assertHasDisk(): void {
    if (performance.now() - this.#fullAt > FULL_FOR_MS) return
    throw Object.assign(new Error('the disk is full'), { code: DISK_FULL })
  }

  /** A statement begins. */
  wake(): void {
    if (this.#timer || this.#closed) return
    const look = () => this.#look().catch(this.#logError)
    this.#timer = setTimeout(() => void look(), LOOK_MS)
    this.#timer.unref()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#clients.clear()
  }

  async #look(): Promise<void> {
    let isWaiting = false
    const stuck: Client[] = []
    for (const [client, seen] of this.#clients) {
      const waits = client.readyForQuery === false
      const bytes = bytesOf(client)
      if (waits && seen.waited && bytes === seen.bytes) stuck.push(client)
      else seen.lostSince = undefined
      isWaiting ||= waits
      seen.waited = waits
      seen.bytes = bytes
    }
    const isDue = performance.now() - this.#askedAt >= PAUSE_MS
    try {
      if (isDue && (stuck.length > 0 || this.#isReadOnly)) await this.#ask(stuck)
    } finally {
      this.#timer = undefined
    }
    if (isWaiting || this.#isReadOnly) this.wake()
  }

  async #ask(stuck: readonly Client[]): Promise<void> {
    const before = [...this.#clients.keys()]
    const isReadOnly = this.#isReadOnly
    this.#isReadOnly = false
    let deadline = performance.now() + ANSWER_MS
    for (;;) {
      try {
        const answer = await this.#answer(before, deadline - performance.now())
        // There is a server that takes writes: another one than that of these connections, or the same again.
        if (isReadOnly && answer.takesWrites) this.#leave(before)
        else this.#judge(before, stuck, answer)
        break
      } catch (error) {
        if (this.#closed) return
        const { code } = error as { code?: unknown }
        // The server has something to say, although not of these connections.
        if (isSqlState(code) && !NOT_THERE.test(code)) break
        if (performance.now() - deadline > STOOD_STILL_MS) {
          deadline = performance.now() + ANSWER_MS
          continue
        }
        if (performance.now() + RETRY_MS > deadline) {
          if (stuck.length > 0) this.#endAll(before, NO_ANSWER)
          break
        }
        await wait(RETRY_MS, undefined, { ref: false })
      }
    }
    this.#askedAt = performance.now()
  }

  /** @throws where there is no answer in time */
  async #answer(clients: readonly Client[], ms: number): Promise<Answer> {
    const client = clientOf({
      ...this.#config,
      connectionTimeoutMillis: Math.max(1, Math.ceil(ms)),
    })
    client.on('error', () => {})
    const ask = async (): Promise<Answer> => {
      await client.connect()
      // A statement may wait for a place in the pooler.
      if (this.#pooled) return { takesWrites: false, works: null }
      const pids = clients.flatMap(({ processID }) => processID ?? [])
      const { rows } = await client.query(ASK, [pids])
      const { me, takesWrites, works } = rows[0] as {
        me: number
        takesWrites: boolean
        works: string | null
      }
      const all = Object.entries(JSON.parse(works ?? '{}') as Record<string, boolean>)
      // A pooler gives connections process ids of its own.
      const isReal = me === (client as Client).processID
      return {
        takesWrites,
        works: isReal ? new Map(all.map(([pid, is]) => [Number(pid), is])) : null,
      }
    }
    try {
      return await within(ms, ask(), () => {
        throw new Error(NO_ANSWER)
      })
    } catch (error) {
      end(client, NO_ANSWER)
      throw error
    } finally {
      client.end().catch(() => {})
    }
  }

  #judge(before: readonly Client[], stuck: readonly Client[], { works }: Answer): void {
    if (!works) return
    const now = performance.now()
    let isLost = false
    for (const client of stuck) {
      const seen = this.#clients.get(client)
      const isStuck = client.readyForQuery === false && bytesOf(client) === seen?.bytes
      if (!seen || !isStuck) continue
      if (works.get(client.processID ?? 0)) seen.lostSince = undefined
      else {
        seen.lostSince ??= now
        isLost ||= now - seen.lostSince >= ANSWER_MS
      }
    }
    if (!isLost) return
    // With them go those that are free: the next statements would wait on them as long.
    const gone = before.filter((client) => {
      const seen = this.#clients.get(client)
      if (!seen || this.#isFree(client)) return true
      return seen.lostSince !== undefined && now - seen.lostSince >= ANSWER_MS
    })
    this.#endAll(gone, NO_ANSWER)
  }

  /** Ends those that are free, and the others when they are. */
  #leave(clients: readonly Client[]): void {
    for (const client of clients) {
      this.#left.add(client)
      if (this.#isFree(client)) end(client, MOVED)
    }
  }

  #isFree(client: Client): boolean {
    return !this.#clients.get(client)?.isOut && client.readyForQuery !== false
  }

  #endAll(clients: readonly Client[], why: string): void {
    const open = clients.filter((client) => this.#clients.has(client))
    if (open.length > 0) this.#logError(new Error(why))
    for (const client of open) end(client, why)
  }
}

const bytesOf = ({ connection }: Client): number | undefined => connection?.stream.bytesRead

function end({ connection }: Client, why: string): void {
  // One that has not begun to connect has no listener of its own.
  connection?.stream.on('error', () => {})
  connection?.stream.destroy(new Error(why))
}
