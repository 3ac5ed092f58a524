import pg from 'pg'
import type { Db } from './transaction.ts'
import { clientOf } from './connection-config.ts'
import { MOVED } from './end-connection.ts'
import { withQueryTimeout } from './query-timeout.ts'
import type { SchemaNames } from './schema-names.ts'
import type { ServerWatch } from './server-watch.ts'
import { isLostConnection } from './connection-errors.ts'
import { Timer, within } from '../time.ts'

/**
 * LISTEN and NOTIFY over one connection, which is made again when it breaks. A notification may be
 * lost at any time (a pooler, a half-open connection, a restart), so nothing may depend on one: it
 * only makes a poll come early.
 *
 * The connection also answers small statements, which therefore need no place in the application's
 * pool.
 */
export type Notifications = Omit<NotificationConnection, 'close'>

export interface NotificationQueryOptions {
  /** After how long the statement is rejected, waiting for its turn included. */
  timeoutMs: number
  /** Goes before all waiting statements that are not urgent. */
  isUrgent?: boolean
}

/** `fromHere`: this process sent it. */
type Listener = (payload: string, fromHere: boolean) => void

const LONGEST_PAUSE_MS = 1000
const CLOSE_TIMEOUT_MS = 1000
const QUERY_TIMEOUT_MS = 5000
const TOO_LATE = 'Query read timeout: its turn came too late'

export class NotificationConnection {
  #config: pg.PoolConfig
  /** False behind a pooler: a LISTEN stays with a connection that soon serves other clients. */
  #canListen: boolean
  #logError: (error: Error) => void
  #names: SchemaNames | undefined
  #watch: ServerWatch | undefined
  readonly #gone = new WeakSet<pg.Client>()
  #listeners = new Map<string, Set<Listener>>()
  #client: pg.Client | undefined
  #opening: Promise<void> | undefined
  #retry = new Timer(() => this.#open())
  #onConnect: (() => void)[] = []
  #statements = new StatementQueue()
  #failures = 0
  #closed = false

  constructor(
    config: pg.PoolConfig,
    canListen: boolean,
    logError: (error: Error) => void,
    { names, watch }: { names?: SchemaNames | undefined; watch?: ServerWatch | undefined } = {},
  ) {
    this.#config = config
    this.#canListen = canListen
    this.#logError = logError
    this.#names = names
    this.#watch = watch
  }

  listen(name: string, listener: Listener): void {
    const channel = this.#channel(name)
    const listeners = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, listeners.add(listener))
    if (!this.#canListen) return
    if (!this.#client) void this.#open()
    else if (listeners.size === 1) void this.#runStatement(`listen ${pg.escapeIdentifier(channel)}`)
  }

  /** Sends at once; lost where the connection is not there. */
  async send(channel: string, payload: string): Promise<void> {
    if (!this.#client) await this.#open()
    // A notification may be lost in a crash, so its commit need not wait for the disk.
    await this.#runStatement(
      `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`,
      [this.#channel(channel), payload],
    )
  }

  /** Runs one small statement on the connection, which is made where it is not there. */
  async query(
    text: string,
    values: unknown[],
    { timeoutMs, isUrgent = false }: NotificationQueryOptions,
  ): ReturnType<Db['query']> {
    const deadline = performance.now() + timeoutMs
    const tooLate = () => {
      throw new Error(`Query read timeout: no answer within ${timeoutMs} ms`)
    }
    const answer = this.#statements.run(
      async () => {
        const leftMs = deadline - performance.now()
        if (leftMs <= 0) throw new Error(TOO_LATE)
        if (!this.#client) await within(leftMs, this.#open(), tooLate)
        const client = this.#client
        if (!client) throw new Error('Connection terminated: another one is being made')
        return this.#queryOn(client, text, values, deadline - performance.now())
      },
      { isUrgent },
    )
    answer.catch(() => {})
    return within(timeoutMs, answer, tooLate)
  }

  /**
   * Whether the connection is there and its current statement, if any, has been running for less
   * than `ms`. Starts to connect where it is not there.
   */
  isResponsive(ms: number): boolean {
    if (!this.#client) void this.#open()
    return this.#client !== undefined && this.#statements.takenForMs < ms
  }

  /** `listener` is called whenever the connection was made. */
  onConnect(listener: () => void): void {
    this.#onConnect.push(listener)
  }

  /** Identifies the connection: what a session holds is lost with it. `undefined` without a connection. */
  get session(): number | undefined {
    return this.#canListen && this.#client ? processIdOf(this.#client) : undefined
  }

  /** Whether all channels with listeners are listened to. Also true without listeners, and behind a pooler. */
  get isListening(): boolean {
    return !this.#canListen || this.#listeners.size === 0 || this.#client !== undefined
  }

  /** Resolves when all statements have run, or after a second. */
  async close(): Promise<void> {
    this.#closed = true
    this.#retry.clear()
    await this.#opening
    const client = this.#client
    this.#client = undefined
    if (!client) return
    const ending = this.#statements.run(() => client.end()).catch(this.#logError)
    await within(CLOSE_TIMEOUT_MS, ending, () => {})
  }

  #open(): Promise<void> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  #channel(name: string): string {
    return this.#names?.channel(name) ?? name
  }

  async #connect(): Promise<void> {
    if (this.#closed || this.#retry.isSet) return
    const client = clientOf(this.#config)
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ channel, payload = '', processId }) =>
      this.#receive(channel, payload, processId === processIdOf(client)),
    )
    this.#watch?.add(client)
    this.#watch?.wake()
    try {
      await client.connect()
      this.#watch?.add(client)
      const db = withQueryTimeout(client, QUERY_TIMEOUT_MS, this.#names)
      // A statement that timed out ends in the server too. A pooler would keep this setting for
      // other clients.
      if (this.#canListen) await db.query(`set statement_timeout = ${QUERY_TIMEOUT_MS}`)
      for (const channel of this.#canListen ? this.#listeners.keys() : []) {
        await db.query(`listen ${pg.escapeIdentifier(channel)}`)
      }
      if (this.#watch?.isLeft(client)) throw new Error(MOVED)
      this.#client = client
      this.#failures = 0
      for (const listener of this.#onConnect) listener()
    } catch (error) {
      this.#lost(client, error as Error)
    }
  }

  #receive(channel: string, payload: string, fromHere: boolean): void {
    for (const listener of this.#listeners.get(channel) ?? []) {
      try {
        listener(payload, fromHere)
      } catch (error) {
        this.#logError(error as Error)
      }
    }
  }

  #lost(client: pg.Client, error?: Error): void {
    // Its listeners stay: others than ours wait for its end.
    if (this.#gone.has(client)) return
    if (this.#client === client) this.#client = undefined
    else if (this.#client) return
    this.#gone.add(client)
    this.#watch?.forget(client)
    client.end().catch(() => {})
    if (error && !this.#closed) this.#logError(error)
    if (this.#closed || this.#retry.isSet) return
    const pauseMs = Math.min(LONGEST_PAUSE_MS, 100 * 2 ** Math.min(this.#failures++, 10))
    this.#retry.set(pauseMs)
  }

  async #runStatement(statement: string, values?: unknown[]): Promise<void> {
    const client = this.#client
    if (!client) return
    await this.#statements
      .run(() => this.#queryOn(client, statement, values, QUERY_TIMEOUT_MS))
      .catch((error: Error) => this.#client === client && this.#lost(client, error))
  }

  /** A connection that does not answer in time is closed, and another one is made. */
  async #queryOn(
    client: pg.Client,
    text: string,
    values: unknown[] | undefined,
    timeoutMs: number,
  ): ReturnType<Db['query']> {
    // The wait for its turn has used up the time: the connection itself may work.
    if (timeoutMs <= 0) throw new Error(TOO_LATE)
    this.#watch?.wake()
    try {
      return await withQueryTimeout(client, Math.ceil(timeoutMs), this.#names).query(text, values)
    } catch (error) {
      if (isLostConnection(error)) this.#lost(client, error as Error)
      throw error
    } finally {
      if (this.#watch?.isLeft(client)) this.#lost(client, new Error(MOVED))
    }
  }
}

const processIdOf = (client: pg.Client): number | undefined =>
  (client as unknown as { processID?: number }).processID

/** One task at a time, urgent ones before those that wait. */
export class StatementQueue {
  #waiting: { isUrgent: boolean; start: () => void }[] = []
  #isTaken = false
  #since = -Infinity

  /** How long the task under way has been running, in milliseconds; 0 where there is none. */
  get takenForMs(): number {
    return this.#isTaken ? performance.now() - this.#since : 0
  }

  async run<T>(task: () => Promise<T>, { isUrgent = false } = {}): Promise<T> {
    await this.#turn(isUrgent)
    this.#since = performance.now()
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next) next.start()
      else this.#isTaken = false
    }
  }

  #turn(isUrgent: boolean): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true
      return Promise.resolve()
    }
    return new Promise((start) => {
      const end = this.#waiting.length
      const place = isUrgent ? this.#waiting.findIndex((other) => !other.isUrgent) : end
      this.#waiting.splice(place === -1 ? end : place, 0, { isUrgent, start })
    })
  }
}
