/** GitHub's public keys: those of the option, or those that GitHub lists. */
import { AuthUnavailable } from '../errors.ts'
import { isGithubKeys, type GithubKey } from '../github-alerts.ts'

const LISTED_AT = 'https://api.github.com/meta/public_keys/secret_scanning'
const TIMEOUT_MS = 5000
/** A request can name any key id, so GitHub's keys are fetched no more often than this. */
const REFRESH_AFTER_MS = 60_000

/**
 * @param given the keys of the option
 * @param now milliseconds of a monotonic clock
 * @returns a function that returns the keys; it fetches them from GitHub where `named` is unknown,
 *   and throws AuthUnavailable where no keys are known: GitHub sends the alert again then
 */
export function createGithubKeys(
  given: readonly GithubKey[] | undefined,
  fetchKeys: () => Promise<readonly GithubKey[]> = listedByGithub,
  now = () => performance.now(),
) {
  let keys = given
  let refreshedAt = -Infinity
  let refreshing: Promise<void> | undefined

  async function refresh(): Promise<void> {
    refreshedAt = now()
    try {
      keys = await fetchKeys()
    } catch {
      // Keys that were listed before are still of use.
    }
    refreshing = undefined
  }

  return async (named: string): Promise<readonly GithubKey[]> => {
    const isKnown = keys?.some((key) => key.key_identifier === named)
    if (!given && !isKnown) {
      if (!refreshing && now() - refreshedAt >= REFRESH_AFTER_MS) refreshing = refresh()
      await refreshing
    }
    if (!keys) throw new AuthUnavailable()
    return keys
  }
}

async function listedByGithub(): Promise<GithubKey[]> {
  const answer = await fetch(LISTED_AT, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const { public_keys: keys } = (await answer.json()) as { public_keys?: unknown }
  if (!isGithubKeys(keys)) throw new Error('GitHub lists no keys')
  return keys as GithubKey[]
}
