import pg from 'pg'
import type { Db } from './database.ts'

/**
 * LISTEN and NOTIFY over one connection that comes back when it breaks. A signal may be lost at
 * any time (a pooler, a half-open connection, a restart): it only ever makes a poll come early,
 * nothing may depend on it.
 */
export interface Signals {
  /** Returns the function that stops listening. */
  listen(channel: string, heard: (payload: string) => void): () => void
  /** With `db`: sent when that transaction commits. Without: at once, and lost where it cannot be. */
  send(channel: string, payload: string, db?: Db): Promise<void>
}

const LONGEST_PAUSE_MS = 5000

export class SignalLine implements Signals {
  #config: pg.ClientConfig
  #logError: (error: Error) => void
  #listeners = new Map<string, Set<(payload: string) => void>>()
  #client: pg.Client | undefined
  #opening: Promise<void> | undefined
  #retry: NodeJS.Timeout | undefined
  #failures = 0
  #closed = false

  constructor(config: pg.ClientConfig, logError: (error: Error) => void) {
    this.#config = config
    this.#logError = logError
  }

  listen(channel: string, heard: (payload: string) => void): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set()
    const isNew = listeners.size === 0
    listeners.add(heard)
    this.#listeners.set(channel, listeners)
    if (!this.#client) void this.#open()
    else if (isNew) this.#say(`listen ${pg.escapeIdentifier(channel)}`)
    return () => {
      listeners.delete(heard)
      if (listeners.size > 0) return
      this.#listeners.delete(channel)
      this.#say(`unlisten ${pg.escapeIdentifier(channel)}`)
    }
  }

  async send(channel: string, payload: string, db?: Db): Promise<void> {
    if (db) {
      await db.query('select pg_notify($1, $2)', [channel, payload])
      return
    }
    if (!this.#client) await this.#open()
    await this.#client?.query('select pg_notify($1, $2)', [channel, payload]).catch(this.#logError)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    await this.#opening
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(this.#logError)
  }

  #open(): Promise<void> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #connect(): Promise<void> {
    if (this.#closed || this.#retry) return
    const client = new pg.Client(this.#config)
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ channel, payload }) => {
      for (const heard of this.#listeners.get(channel) ?? []) heard(payload ?? '')
    })
    try {
      await client.connect()
      // A signal says nothing that a crash could make untrue: its commit need not wait for the disk.
      await client.query('set synchronous_commit = off')
      for (const channel of this.#listeners.keys()) {
        await client.query(`listen ${pg.escapeIdentifier(channel)}`)
      }
      this.#client = client
      this.#failures = 0
    } catch (error) {
      this.#lost(client, error as Error)
    }
  }

  #lost(client: pg.Client, error?: Error): void {
    if (this.#client === client) this.#client = undefined
    else if (this.#client) return
    client.removeAllListeners()
    client.on('error', () => {})
    client.end().catch(() => {})
    if (error && !this.#closed) this.#logError(error)
    if (this.#closed || this.#retry) return
    const pauseMs = Math.min(LONGEST_PAUSE_MS, 100 * 2 ** this.#failures++)
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      void this.#open()
    }, pauseMs)
    this.#retry.unref()
  }

  #say(statement: string): void {
    this.#client?.query(statement).catch(this.#logError)
  }
}
