/**
 * Whether a request comes from a page of this console, by the headers of the browser (Fetch,
 * section 3.1).
 */

export interface Sender {
  origin: string | undefined
  /** `Sec-Fetch-Site`. */
  site: string | undefined
  /** The host of the request, as the server sees it: `trustProxy` decides. */
  host: string
  isSecure: boolean
  /** The origin at which browsers reach the host, by the option `origin`. */
  ownOrigin: string | null
}

/** Why a change is not taken; `null` where it is. */
export function whyNoChange(sender: Sender): string | null {
  const { origin, site } = sender
  if (origin === undefined) return 'the header Origin is missing'
  if (site === undefined) {
    return 'the header Sec-Fetch-Site is missing: browsers send it over HTTPS, and to localhost'
  }
  return whyForeign(sender)
}

/** Why a read is not answered; `null` where it is. A client that is no browser sends neither header. */
export function whyForeign({ origin, site, ...own }: Sender): string | null {
  if (site !== undefined && site !== 'same-origin') {
    return `the header Sec-Fetch-Site must be same-origin, got ${quoted(site)}`
  }
  if (origin !== undefined && !isOwn(origin, own)) {
    return `the header Origin names another origin, ${quoted(origin)}`
  }
  return null
}

function isOwn(
  origin: string,
  { host, isSecure, ownOrigin }: Pick<Sender, 'host' | 'isSecure' | 'ownOrigin'>,
): boolean {
  if (ownOrigin !== null) return origin === ownOrigin
  // Behind a proxy that ends TLS a request may be http although the page was https.
  return origin === `https://${host}` || (!isSecure && origin === `http://${host}`)
}

const quoted = (value: string): string => JSON.stringify(value.slice(0, 100))
