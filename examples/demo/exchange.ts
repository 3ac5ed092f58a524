import { brief, cameBack, sent } from './print.ts'

export interface Request {
  method: 'GET' | 'POST'
  path: string
  /** Sent as `X-API-Key`. */
  key?: string
  /** How the key is called in print. */
  as?: string
  body?: unknown
  headers?: Record<string, string>
}

/**
 * One HTTP exchange, printed. The story holds the host to what it tells: another status than the
 * expected one ends it.
 */
export async function exchange<Answer = unknown>(
  base: string,
  { method, path, key, as, body, headers = {} }: Request,
  expected: number,
): Promise<Answer> {
  const text =
    typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body)
  sent(
    `${method} ${path}${as ? `   (${as})` : ''}${text === undefined ? '' : `   ${brief(JSON.parse(text))}`}`,
  )
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
  })
  const answer = (await response.json()) as Answer
  cameBack(`${response.status} ${brief(answer)}`)
  if (response.status !== expected) {
    throw new Error(`${method} ${path} was to answer ${expected} and answered ${response.status}.`)
  }
  return answer
}
