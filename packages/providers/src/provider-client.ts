/**
 * Fetches certificates and key sets from providers for sources, and confirms subscriptions. Only
 * hosts of the provider are contacted, answers are cached, and the number of requests is bounded.
 */
import { hash, X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { NotFetched, ProviderAway } from './errors.ts'
import type { Fetched } from './preset-schemes.ts'

/** One request that follows no redirect. Rejects without a complete answer. */
export type GuardedFetch = (request: {
  url: URL
  method: 'GET' | 'POST'
  /** Sent as JSON with a POST. */
  json?: string
}) => Promise<{
  statusCode: number
  body: string
  /** For how long the provider lets the answer be kept, in milliseconds. @default an hour, which is the most */
  keepMs?: number
}>

export interface Wanted {
  url: string
  /** The hosts that may be contacted; `*` matches one label. */
  hosts: readonly string[]
  /** JSON to send with a POST. @default a GET */
  json?: string
  /**
   * An answer that is older than this is fetched again, in milliseconds, and no former one will do.
   * @default an hour, and while the provider is away the former answer of the last day
   */
  maxAgeMs?: number
  /** Whether a document can be what is wanted: where it cannot, the provider is away. @default any is */
  isRight?: (body: string) => boolean
}

interface Answer {
  atMs: number
  keepMs: number
  /** `null` where the provider has no such thing. */
  body: Promise<string | null>
  isMissing: boolean
  /** Why it could not be fetched again, and when. */
  failed?: { error: unknown; atMs: number }
}

interface Address {
  url: URL
  /** The pattern of hosts that the URL is of. */
  pattern: string
  /** JSON to send with a POST. */
  json: string | undefined
  isRight: (body: string) => boolean
}

type Kind = 'known' | 'other'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How long a missing document is remembered as missing, and the provider of a known one as away. */
const MISSING_MS = 60_000
const MOST_ANSWERS = 200
/**
 * How many addresses are fetched in a minute at most, for one source from one pattern of hosts: of
 * those that had an answer before, and of others. Forged requests can name any number of addresses of
 * a pinned host. They must not use up the requests that genuine ones need, and none of another source.
 */
const MOST_A_MINUTE = 60

export class ProviderClient {
  #fetch: GuardedFetch
  #now: () => number
  #answers = new Map<string, Answer>()
  /** When addresses were fetched, by kind and by pattern of hosts. */
  #fetched = new Map<string, number[]>()
  #roots: readonly string[]
  #readRoots: X509Certificate[] | undefined

  /** @param roots certificates that are trusted, in PEM. @default those of Node */
  constructor(
    fetch: GuardedFetch,
    now: () => number = Date.now,
    roots: readonly string[] = rootCertificates,
  ) {
    this.#fetch = fetch
    this.#now = now
    this.#roots = roots
  }

  /** A client over the same network whose answers and requests are its own, for one source. */
  apart(): ProviderClient {
    return new ProviderClient(this.#fetch, this.#now, this.#roots)
  }

  /** The certificates that a chain must end at. */
  get roots(): readonly X509Certificate[] {
    return (this.#readRoots ??= this.#roots.filter((pem) => pem !== '').map(readCertificate))
  }

  /**
   * Fetches the body at a URL.
   *
   * @throws NotFetched where the URL is not https on one of the hosts, or has no body
   * @throws ProviderAway or what the fetch threw, where there is no answer
   */
  async text(wanted: Wanted): Promise<string> {
    const { url, pattern } = pinned(wanted)
    const { json, maxAgeMs, isRight = () => true } = wanted
    const key = json === undefined ? url.href : `${url.href} ${hash('sha256', json)}`
    const known = this.#answers.get(key)
    const isUsed = known && (this.#isFresh(known, maxAgeMs) || this.#isAway(known))
    const answer = isUsed ? known : this.#ask(key, known, { url, pattern, json, isRight })
    this.#keep(key, answer)
    const body = await answer.body
    if (body === null) throw new NotFetched('the provider has nothing at that address')
    if (maxAgeMs !== undefined && answer.failed) throw answer.failed.error
    return body
  }

  #isFresh({ atMs, keepMs }: Answer, maxAgeMs = HOUR_MS): boolean {
    return this.#now() - atMs < Math.min(maxAgeMs, keepMs)
  }

  /** Forged requests must not have a provider asked that has just failed. */
  #isAway(known: Answer): boolean {
    const { failed } = known
    return failed !== undefined && this.#now() - failed.atMs < MISSING_MS && this.#isOfToday(known)
  }

  #isOfToday({ isMissing, atMs }: Answer): boolean {
    return !isMissing && this.#now() - atMs < DAY_MS
  }

  /** Sends a GET to a URL. Returns whether the answer was 2xx. @throws NotFetched */
  async visit(wanted: Pick<Wanted, 'url' | 'hosts'>): Promise<boolean> {
    const { url, pattern } = pinned(wanted)
    this.#count('other', pattern)
    const { statusCode } = await this.#fetch({ url, method: 'GET' })
    return statusCode >= 200 && statusCode < 300
  }

  /**
   * Asks for a document. While the provider is not available, all that wait for it get the former
   * answer, for up to a day.
   */
  #ask(key: string, known: Answer | undefined, address: Address): Answer {
    const answer: Answer = {
      atMs: this.#now(),
      keepMs: HOUR_MS,
      isMissing: false,
      body: this.#fetchBody(known && !known.isMissing ? 'known' : 'other', address).then(
        ({ body, keepMs = HOUR_MS }) => {
          answer.isMissing = body === null
          answer.keepMs = body === null ? MISSING_MS : Math.min(keepMs, HOUR_MS)
          return body
        },
        async (error: unknown) => {
          if (this.#answers.get(key) === answer) this.#answers.delete(key)
          if (!known || !this.#isOfToday(known)) throw error
          answer.failed = known.failed = { error, atMs: this.#now() }
          this.#keep(key, known)
          return known.body
        },
      ),
    }
    return answer
  }

  async #fetchBody(
    kind: Kind,
    { url, pattern, json, isRight }: Address,
  ): Promise<{ body: string | null; keepMs?: number }> {
    this.#count(kind, pattern)
    const request =
      json === undefined ? { method: 'GET' as const } : { method: 'POST' as const, json }
    const answer = await this.#fetch({ url, ...request })
    const { statusCode } = answer
    if (statusCode === 200) {
      // The page of a proxy, or that of a server under repair.
      if (!isRight(answer.body)) throw new ProviderAway(`${url.hostname} answered something else`)
      return answer
    }
    // A fault of the provider is temporary: the sender tries again.
    if (statusCode >= 500 || statusCode === 429) {
      throw new ProviderAway(`${url.hostname} answered ${statusCode}`)
    }
    return { body: null }
  }

  #count(kind: Kind, pattern: string): void {
    const nowMs = this.#now()
    const counted = `${kind} ${pattern}`
    const within = (this.#fetched.get(counted) ?? []).filter((atMs) => nowMs - atMs < 60_000)
    this.#fetched.set(counted, within)
    if (within.length >= MOST_A_MINUTE) {
      throw new ProviderAway(
        `more than ${MOST_A_MINUTE} addresses of ${pattern} to fetch in a minute`,
      )
    }
    within.push(nowMs)
  }

  /** Keeps those that were used last. Where they are too many, what is missing goes first. */
  #keep(key: string, answer: Answer): void {
    this.#answers.delete(key)
    this.#answers.set(key, answer)
    if (this.#answers.size <= MOST_ANSWERS) return
    const [oldest] = this.#answers
    const gone = [...this.#answers].find(([, { isMissing }]) => isMissing) ?? oldest
    if (gone) this.#answers.delete(gone[0])
  }
}

const readCertificate = (pem: string): X509Certificate => new X509Certificate(pem)

/** The address is often part of the request to verify: only the hosts of the row are contacted. */
function pinned({ url, hosts }: Pick<Wanted, 'url' | 'hosts'>): Pick<Address, 'url' | 'pattern'> {
  const parsed = URL.parse(url)
  const isRight =
    parsed?.protocol === 'https:' &&
    parsed.port === '' &&
    parsed.username === '' &&
    parsed.password === ''
  const pattern = isRight ? hosts.find((host) => isHost(parsed.hostname, host)) : undefined
  if (!parsed || pattern === undefined) {
    throw new NotFetched('the address to fetch is not one of the provider')
  }
  return { url: parsed, pattern }
}

export function isHost(hostname: string, pattern: string): boolean {
  const labels = hostname.split('.')
  const wanted = pattern.split('.')
  return (
    labels.length === wanted.length &&
    wanted.every((label, place) => label === '*' || label === labels[place])
  )
}

const WILDCARDS: Readonly<Record<string, string>> = {
  '*': '[A-Za-z0-9_-]+',
  // A bucket has a host name of the same form: `sns.s3-us-west-2.amazonaws.com`. No region begins so.
  '{region}': '[a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2}',
  '{query}': String.raw`[^#\s]*`,
}

export type Pin = (address?: string) => { url: string; hosts: string[] }

/**
 * Compiles the addresses that a row fetches: exactly those of its provider. The result throws for any
 * other.
 *
 * @throws NotFetched
 */
export function pinnedTo({ url: fixed, at = [fixed] }: Fetched): Pin {
  const patterns = at.map((pattern) => ({ is: patternOf(pattern), host: hostOf(pattern) }))
  return (address = '') => {
    const found = patterns.find(({ is }) => is.test(address))
    if (!found || !URL.canParse(address)) {
      throw new NotFetched('the address to fetch is not one of the provider')
    }
    return { url: address, hosts: [found.host] }
  }
}

/** With `*` for any label: requests are counted for all hosts of the pattern, as a sender may name any. */
const hostOf = (pattern: string): string =>
  (/^https:\/\/([^/?#]+)/.exec(pattern)?.[1] ?? '').toLowerCase().replaceAll(/\{\w+\}/g, '*')

/** The text as it was written is compared, not the address as a parser reads it. */
function patternOf(pattern: string): RegExp {
  const parts = pattern.split(/(\*|\{\w+\})/)
  const source = parts.map(
    (part) => WILDCARDS[part] ?? part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`),
  )
  return new RegExp(`^${source.join('')}$`)
}

/** The client that a verification was given. @throws TypeError if the caller gave none */
export function clientOf(client: ProviderClient | undefined): ProviderClient {
  if (client) return client
  throw new TypeError(
    'this verification fetches keys: it runs only where there is a client for that',
  )
}
