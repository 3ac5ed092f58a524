/**
 * Notices connections that nobody answers any more: the server hangs, the network between drops all data, or
 * the server before which a proxy stood has been left for another one. TCP notices that after minutes, or never.
 *
 * A connection with a statement under way cannot be asked whether it is there. Another one is made, and the
 * server tells on it what the first one does. That is done only while a statement waits for longer than a second.
 */
import pg from 'pg'
import { pause, Timer, within } from '../time.ts'
import { clientOf, type Config } from './connection-config.ts'
import { isAnswer } from './connection-errors.ts'
import { endConnection, MOVED, type Connected } from './end-connection.ts'
import type { Address } from './host-list.ts'

/** How often it is looked whether a statement got an answer. */
const LOOK_MS = 1000
/** How long a connection, or the server, has to answer. */
const ANSWER_MS = 3000
/** How often the server is asked while a statement takes its time. */
const PAUSE_MS = 2000
const RETRY_MS = 200
/** The pause between two tries to connect to another host of a list. */
const OTHERS_MS = 5000
/** A limit that fires so much later: this process stood still, and the answer may be there unread. */
const STOOD_STILL_MS = 500
/** How long a function that gives the password may take. */
const PASSWORD_MS = 15_000

/** A client of pg, as far as it tells what it is doing. */
type Client = Connected & {
  readyForQuery?: boolean
  _connecting?: boolean
  processID?: number | null
  /** Which one of a list of hosts it is connected to, or being connected to. */
  address?: Address | undefined
}

/** Of pg-pool: its clients, from the moment at which they begin to connect. */
type Pool = pg.Pool & { _clients?: readonly Client[] }

interface Seen {
  /** Whether a pool has handed it out. */
  isOut: boolean
  /** Whether it was waiting for an answer when it was looked at last. */
  waited: boolean
  /** The connection that it had then: a client of a list makes one after the other. */
  connection: Client['connection']
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
  /** Process ids that it does not have: these connections are gone, or lead to another server. */
  lacks: ReadonlySet<number>
}

const READ_ONLY = '25006'
const DISK_FULL = '53100'
/** For how long after such a statement. */
const FULL_FOR_MS = 10_000
const LOG_REFUSALS_MS = 60_000
const NO_ANSWER = `Connection terminated: no answer within ${ANSWER_MS / 1000} s`
const NO_PASSWORD = `timeout expired: the function that gives the password has not answered within ${PASSWORD_MS / 1000} s`
const WRITES_AGAIN = 'Connection terminated: the server takes writes again'

const ASK = `select pg_catalog.pg_backend_pid() as me,
    pg_catalog.current_setting('transaction_read_only') = 'off' as "takesWrites",
    (select pg_catalog.json_object_agg(pid, coalesce(state, 'active') not like 'idle%')
       from pg_catalog.pg_stat_activity where pid = any($1::pg_catalog.int4[]))::pg_catalog.text as works`

/** `null` where it takes no writes. Each promotion begins a timeline of its own. */
const TIMELINE = `select case when pg_catalog.current_setting('transaction_read_only') = 'off'
    then pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) end as timeline`

export class ServerWatch {
  readonly #config: Config
  readonly #logError: (error: Error) => void
  readonly #logRefusal: (error: Error) => void
  /** Whether a pooler is in between: process ids are its own, and a statement may wait for a place there. */
  #pooled = false
  #pools = new Set<Pool>()
  /** Those that a pool has handed out, and that of the listener. */
  #clients = new Set<Client>()
  #seen = new WeakMap<Client, Seen>()
  #listenedTo = new WeakSet<object>()
  /** Made before the server moved, and to be ended when they are free. */
  #left = new WeakSet<Client>()
  #timer = new Timer(() => this.#look().catch(this.#logError))
  #isLooking = false
  /** When each host was asked, and (`'any'`) when one that takes writes was looked for. */
  #askedAt = new Map<Address | 'one' | 'any', number>()
  /** Of each other host of a list: kept, since to sign in costs both sides more than an answer. */
  #others = new Map<Address, pg.Client>()
  #othersMadeAt = -Infinity
  #isAskingOthers = false
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
    if (this.#config.hosts) this.#config.hosts.onOnlyReads = () => this.#findWriter()
  }

  markPooled(): void {
    this.#pooled = true
  }

  /** Watches all connections of a pool. The function ends that. */
  watchPool(pool: pg.Pool): () => void {
    this.#pools.add(pool)
    const onAcquire = (client: pg.PoolClient) => {
      this.add(client)
      this.#seenOf(client).isOut = true
      this.wake()
    }
    const onRelease = (_: unknown, client: pg.PoolClient) => {
      this.#seenOf(client).isOut = false
      // The pool takes back no client that is ending.
      if (this.isLeft(client)) client.end().catch(() => {})
    }
    const onRemove = (client: pg.PoolClient) => void this.#clients.delete(client)
    pool.on('acquire', onAcquire)
    pool.on('remove', onRemove)
    pool.on('release', onRelease)
    return () => {
      this.#pools.delete(pool)
      pool.off('acquire', onAcquire)
      pool.off('remove', onRemove)
      pool.off('release', onRelease)
    }
  }

  /** Again when it is connected: a client of a list has another connection by then. */
  add(client: Client): void {
    const { connection } = client
    if (connection && !this.#listenedTo.has(connection)) {
      this.#listenedTo.add(connection)
      connection.on('errorMessage', (error: pg.DatabaseError) => this.#note(error))
    }
    if (this.#clients.has(client)) return
    this.#clients.add(client)
    client.once('end', () => this.#clients.delete(client))
  }

  forget(client: Client): void {
    this.#clients.delete(client)
  }

  /** Whether it is to be ended when its statement has ended: another server takes the writes. */
  isLeft(client: Client): boolean {
    return this.#left.has(client)
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
    else this.#findWriter()
  }

  #findWriter(): void {
    this.#isReadOnly = true
    this.wake()
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
    if (!this.#isLooking && !this.#closed) this.#timer.set(LOOK_MS)
  }

  close(): void {
    this.#closed = true
    this.#timer.clear()
    this.#clients.clear()
    this.#pools.clear()
    for (const client of this.#others.values()) client.end().catch(() => {})
  }

  /** Also those that are being connected. */
  #all(): Client[] {
    const all = new Set(this.#clients)
    for (const { _clients = [] } of this.#pools) for (const client of _clients) all.add(client)
    return [...all]
  }

  #seenOf(client: Client): Seen {
    const known = this.#seen.get(client)
    if (known) return known
    const { connection } = client
    const seen = { isOut: false, waited: false, connection, bytes: undefined, lostSince: undefined }
    this.#seen.set(client, seen)
    return seen
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    let isAny = false
    /** By the host of the list that they wait for. */
    const stuck = new Map<Address | undefined, Client[]>()
    for (const client of this.#all()) {
      const seen = this.#seenOf(client)
      const { connection, address } = client
      const waits = isWaiting(client)
      const bytes = bytesOf(client)
      // A server that has asked for a password waits for the function that gives it.
      const isAsked = isOpening(client) && bytes !== 0
      const isSame = connection === seen.connection && bytes === seen.bytes
      if (waits && seen.waited && isSame && !isAsked)
        stuck.set(address, [...(stuck.get(address) ?? []), client])
      else seen.lostSince = undefined
      isAny ||= waits
      Object.assign(seen, { waited: waits, connection, bytes })
    }
    void this.#leaveFormerPrimary().catch(this.#logError)
    try {
      const asking = [...stuck]
        .filter(([address]) => this.#isDue(address ?? 'one'))
        .map(([address, clients]) => this.#ask(address, clients))
      if (this.#isReadOnly && this.#isDue('any')) asking.push(this.#lookForWrites())
      await Promise.all(asking)
    } finally {
      this.#isLooking = false
    }
    if (isAny || this.#isReadOnly) this.wake()
  }

  #isDue(what: Address | 'one' | 'any'): boolean {
    return performance.now() - (this.#askedAt.get(what) ?? -Infinity) >= PAUSE_MS
  }

  /** Asks the host on which they wait, and no other one of the list. */
  async #ask(address: Address | undefined, stuck: readonly Client[]): Promise<void> {
    const before = new Set(this.#all().filter((client) => client.address === address))
    try {
      const config = await this.#configFor(address)
      let deadline = performance.now() + ANSWER_MS
      for (;;) {
        try {
          const answer = await this.#answer(config, [...before], deadline - performance.now())
          this.#judge([...before], stuck, answer)
          break
        } catch (error) {
          if (this.#closed) return
          // Not of these connections.
          if (isAnswer(error)) break
          if (performance.now() - deadline > STOOD_STILL_MS) {
            deadline = performance.now() + ANSWER_MS
            continue
          }
          if (performance.now() + RETRY_MS > deadline) {
            this.#giveUp(address, before, stuck)
            break
          }
          await pause(RETRY_MS)
        }
      }
    } finally {
      this.#askedAt.set(address ?? 'one', performance.now())
    }
  }

  /** Nothing of this host is left that would go on where the host wakes. */
  #giveUp(
    address: Address | undefined,
    before: ReadonlySet<Client>,
    stuck: readonly Client[],
  ): void {
    if (address) this.#config.hosts?.tryLast(address)
    // A server may take no new connections for a while, and still serve those that it has.
    const isSilent = stuck.some((client) => !isOpening(client))
    const gone = this.#all().filter(
      (client) =>
        client.address === address && (isOpening(client) || (isSilent && before.has(client))),
    )
    this.#endAll(gone, NO_ANSWER)
  }

  /** A function that gives the password may take its time, and that says nothing of the server. */
  async #configFor(address: Address | undefined): Promise<Config> {
    const { hosts } = this.#config
    const config: Config = {
      ...this.#config,
      ...(hosts && address ? { hosts: hosts.only(address) } : {}),
    }
    const give = config.password as ((of: object) => string | Promise<string>) | string | undefined
    if (typeof give !== 'function') return config
    const { connectionParameters } = new pg.Client({ ...config, ...address }) as unknown as {
      connectionParameters: object
    }
    const late = () => {
      throw new Error(NO_PASSWORD)
    }
    return { ...config, password: await within(PASSWORD_MS, give(connectionParameters), late) }
  }

  /**
   * A server whose manager hangs takes writes, and shows what it has, after another one was promoted: what is
   * revoked there would be valid here.
   */
  async #leaveFormerPrimary(): Promise<void> {
    const { hosts } = this.#config
    if (!hosts?.mayMove || this.#isAskingOthers) return
    this.#isAskingOthers = true
    const [own, ...all] = hosts.all
    const now = performance.now()
    const isDue = now - this.#othersMadeAt >= OTHERS_MS
    if (isDue) this.#othersMadeAt = now
    const others = all.filter((one) => isDue || this.#others.has(one))
    try {
      const timelines = await Promise.all(others.map((one) => this.#timelineOf(one)))
      const newest = timelines.toSorted().at(-1)
      if (!own || !newest || this.#closed) return
      const timeline = await this.#timelineOf(own)
      if (timeline === '' || timeline >= newest) return
      hosts.tryLast(own)
      const former = this.#all().filter((client) => client.address === own)
      this.#endAll(former, MOVED)
    } finally {
      this.#isAskingOthers = false
      // The pools have connections to this one.
      if (own)
        this.#others
          .get(own)
          ?.end()
          .catch(() => {})
    }
  }

  /** '' where it takes no writes, does not answer, or no password is given. */
  async #timelineOf(address: Address): Promise<string> {
    const kept = this.#others.get(address)
    const config = kept ? {} : await this.#configFor(address).catch(() => undefined)
    if (!config || this.#closed) return ''
    const client = kept ?? clientOf({ ...config, connectionTimeoutMillis: ANSWER_MS })
    if (!kept) {
      this.#others.set(address, client)
      client.on('error', () => {})
      client.once('end', () => this.#others.delete(address))
    }
    const ask = async () => {
      if (!kept) await client.connect()
      return (await client.query(TIMELINE)).rows[0].timeline ?? ''
    }
    try {
      return await within(ANSWER_MS, ask(), () => {
        throw new Error(NO_ANSWER)
      })
    } catch {
      this.#others.delete(address)
      endConnection(client, NO_ANSWER)
      return ''
    } finally {
      if (this.#closed) client.end().catch(() => {})
    }
  }

  /** The server of these connections has refused a write, since it only reads. */
  async #lookForWrites(): Promise<void> {
    const before = this.#all()
    this.#isReadOnly = false
    try {
      const { takesWrites, works } = await this.#answer(this.#config, before, ANSWER_MS)
      // Another server than that of these connections, or the same again.
      if (takesWrites) this.#leave(before, works)
    } catch {
      // The next write that is refused looks again.
    } finally {
      this.#askedAt.set('any', performance.now())
    }
  }

  /** @throws where there is no answer in time */
  async #answer(config: Config, clients: readonly Client[], ms: number): Promise<Answer> {
    const client = clientOf({
      ...config,
      connectionTimeoutMillis: Math.max(1, Math.ceil(ms)),
    })
    client.on('error', () => {})
    const ask = async (): Promise<Answer> => {
      await client.connect()
      // A statement may wait for a place in the pooler.
      if (this.#pooled) return { takesWrites: false, works: null, lacks: new Set() }
      const pids = clients.flatMap(({ processID }) => processID ?? [])
      const { rows } = await client.query(ASK, [pids])
      const { me, takesWrites, works } = rows[0] as {
        me: number
        takesWrites: boolean
        works: string | null
      }
      // A pooler gives connections process ids of its own.
      if (me !== (client as Client).processID) return { takesWrites, works: null, lacks: new Set() }
      const all = Object.entries(JSON.parse(works ?? '{}') as Record<string, boolean>)
      const has = new Map(all.map(([pid, is]) => [Number(pid), is]))
      return { takesWrites, works: has, lacks: new Set(pids.filter((pid) => !has.has(pid))) }
    }
    try {
      return await within(ms, ask(), () => {
        throw new Error(NO_ANSWER)
      })
    } catch (error) {
      endConnection(client, NO_ANSWER)
      throw error
    } finally {
      client.end().catch(() => {})
    }
  }

  #judge(before: readonly Client[], stuck: readonly Client[], { works, lacks }: Answer): void {
    if (!works) return
    const now = performance.now()
    let isLost = false
    for (const client of stuck) {
      const seen = this.#seenOf(client)
      const isSame = client.connection === seen.connection && bytesOf(client) === seen.bytes
      if (!isWaiting(client) || !isSame) continue
      if (works.get(client.processID ?? 0)) seen.lostSince = undefined
      else {
        seen.lostSince ??= now
        isLost ||= this.#isLost(client, now)
      }
    }
    if (!isLost) return
    // With them go those that are free: the next statements would wait on them as long.
    const isGone = (client: Client) =>
      this.#isFree(client) || this.#isLost(client, now) || lacks.has(client.processID ?? 0)
    // Another server than this one may answer them again, also those that are being opened.
    if (lacks.size > 0) for (const client of before) this.#left.add(client)
    this.#endAll(before.filter(isGone), NO_ANSWER)
  }

  /** One that is being opened is lost sooner: what was opened later has been answered twice. */
  #isLost(client: Client, now: number): boolean {
    const { lostSince } = this.#seenOf(client)
    return lostSince !== undefined && now - lostSince >= (isOpening(client) ? PAUSE_MS : ANSWER_MS)
  }

  /** Ends those that are free, and the others when they are. */
  #leave(clients: readonly Client[], works: Answer['works']): void {
    for (const client of clients) {
      const why = works?.has(client.processID ?? 0) ? WRITES_AGAIN : MOVED
      this.#left.add(client)
      if (this.#isFree(client)) endConnection(client, why)
    }
  }

  #isFree(client: Client): boolean {
    return !this.#seenOf(client).isOut && !isWaiting(client)
  }

  #endAll(clients: readonly Client[], why: string): void {
    const there = new Set(this.#all())
    const open = clients.filter((client) => there.has(client))
    if (open.length > 0) this.#logError(new Error(why))
    for (const client of open) endConnection(client, why)
  }
}

const bytesOf = ({ connection }: Client): number | undefined => connection?.stream.bytesRead

const isOpening = ({ _connecting }: Client): boolean => _connecting === true

const isWaiting = (client: Client): boolean => client.readyForQuery === false || isOpening(client)
