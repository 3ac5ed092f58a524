import { printAnswer, printRequest, short } from './print.ts'

export interface Request {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  /** Sent as `X-API-Key`. */
  key?: string
  /** Who sends it, in print. */
  as?: string
  body?: unknown
  headers?: Record<string, string>
  /** The fields of the answer that are printed; all of it without. */
  show?: string[]
}

/**
 * One HTTP exchange, printed.
 *
 * @throws Error where the status is another than `expected`: the demo ends there
 */
export async function exchange<Answer = unknown>(
  base: string,
  { method, path, key, as, body, headers = {}, show }: Request,
  expected: number,
): Promise<Answer> {
  const text =
    typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body)
  const printed = text === undefined ? '' : ` ${short(JSON.parse(text))}`
  printRequest(`${method} ${withoutIds(path)}${as ? ` (${as})` : ''}${printed}`)
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
  })
  const answer = (response.status === 204 ? null : await response.json()) as Answer
  printAnswer(response.status, response.ok ? summaryOf(answer, show) : problemOf(answer))
  if (response.status !== expected) {
    throw new Error(
      `${method} ${path} should have answered ${expected} and answered ${response.status}: ${JSON.stringify(answer)}`,
    )
  }
  return answer
}

const withoutIds = (path: string): string =>
  path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => `${id.slice(0, 4)}…`)

function summaryOf(answer: unknown, show: string[] | undefined): string {
  if (answer === null || show === undefined) return answer === null ? '' : short(answer)
  const fields = answer as Record<string, unknown>
  return show.map((name) => `${name} ${masked(name, fields[name])}`).join(', ')
}

const problemOf = (answer: unknown): string => {
  const { code, message } = answer as { code?: string; message?: string }
  return code ?? message ?? ''
}

/** Secrets are shown by their beginning. */
function masked(name: string, value: unknown): string {
  if (typeof value !== 'string') return short(value)
  return name === 'key' || name === 'secret' ? `${value.slice(0, 10)}…` : value
}
