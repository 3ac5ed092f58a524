/** GitHub's public keys: those of the option, or those that GitHub lists. */
import { Unavailable } from '../errors.ts'
import { isGithubKeys, type GithubKey } from '../github-alerts.ts'

const LISTED_AT = 'https://api.github.com/meta/public_keys/secret_scanning'
const TIMEOUT_MS = 5000
/** Anybody can name a key that there is not: GitHub is asked no more often than this. */
const ASK_AGAIN_MS = 60_000

/** @returns a function that returns the keys; it asks GitHub where `named` is not among those it has */
export function createGithubKeys(given: readonly GithubKey[] | undefined) {
  let keys: readonly GithubKey[] = given ?? []
  let askedAt = -Infinity
  return async (named: string): Promise<readonly GithubKey[]> => {
    const isKnown = keys.some((key) => key.key_identifier === named)
    if (given || isKnown || performance.now() - askedAt < ASK_AGAIN_MS) return keys
    askedAt = performance.now()
    keys = await fetchKeys().catch(() => {
      throw new Unavailable()
    })
    return keys
  }
}

async function fetchKeys(): Promise<GithubKey[]> {
  const answer = await fetch(LISTED_AT, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const { public_keys: keys } = (await answer.json()) as { public_keys?: unknown }
  if (!isGithubKeys(keys)) throw new Error('GitHub lists no keys')
  return keys as GithubKey[]
}
