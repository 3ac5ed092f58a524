/** The addresses that a row fetches: exactly those of its provider. */
import { NotFetched } from '../../provider-client.ts'
import type { Fetched } from '../preset-schemes.ts'

const WILDCARDS: Readonly<Record<string, string>> = {
  '*': '[A-Za-z0-9_-]+',
  // A bucket has a host name of the same form: `sns.s3-us-west-2.amazonaws.com`. No region begins so.
  '{region}': '[a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2}',
  '{query}': String.raw`[^#\s]*`,
}

export type Pin = (address?: string) => { url: string; hosts: string[] }

/**
 * Compiles the patterns of a row. The result throws for an address that is none of theirs.
 *
 * @throws NotFetched
 */
export function pinnedTo({ url: fixed, at = [fixed] }: Fetched): Pin {
  const patterns = at.map(patternOf)
  return (address = '') => {
    const url = URL.parse(address)
    if (!url || !patterns.some((pattern) => pattern.test(address))) {
      throw new NotFetched('the address to fetch is not one of the provider')
    }
    return { url: address, hosts: [url.hostname] }
  }
}

/** The text as it was written is compared, not the address as a parser reads it. */
function patternOf(pattern: string): RegExp {
  const parts = pattern.split(/(\*|\{\w+\})/)
  const source = parts.map(
    (part) => WILDCARDS[part] ?? part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`),
  )
  return new RegExp(`^${source.join('')}$`)
}
