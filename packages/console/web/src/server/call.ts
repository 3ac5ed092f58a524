/** The only module that calls the server: each operation is a POST of JSON to `api/<operation>`. */
import type { CallInput, CallName, CallResult } from './contract.ts'

/** The server's error answer to a call, or the reason why there was no answer. */
export class Problem extends Error {
  readonly statusCode: number
  readonly code: string

  constructor(statusCode: number, code: string, message: string) {
    super(message)
    this.statusCode = statusCode
    this.code = code
  }
}

export const asProblem = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem(0, 'page', error instanceof Error ? error.message : String(error))

/** No answer, or one that says that the host cannot answer now. */
export const mayPass = ({ statusCode }: Problem): boolean => [0, 502, 503, 504].includes(statusCode)

/** The host is older, or has not registered the plugin: the page leaves the part out. */
export const isUnknownOperation = (problem: Problem | undefined): boolean =>
  problem?.code === 'SVC_CONSOLE_UNKNOWN_OPERATION'

const onSignedOut = new Set<() => void>()

/** Calls `listener` whenever an answer shows that the session has ended. */
export function whenSignedOut(listener: () => void): () => void {
  onSignedOut.add(listener)
  return () => onSignedOut.delete(listener)
}

/** Where the host has mounted the console, as the server wrote it into the page: `/console/`. */
export const basePath: string = `${
  document.querySelector<HTMLMetaElement>('meta[name="svc-console-base"]')?.content ?? ''
}/`

export const urlOf = (path: string): string => basePath + path

/** @throws Problem */
export async function request<Result>(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Result> {
  const [response, text] = await answerTo(path, {
    method,
    // The same mode as the preload of index.html: otherwise the file would be loaded twice.
    credentials: 'same-origin',
    ...(signal && { signal }),
    ...(method === 'POST' && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body ?? {}),
    }),
  })
  const answer = parsed(text) as (Result & Partial<Problem>) | null
  if (response.ok) return answer as Result
  if (response.status === 401 && path !== 'api/session')
    for (const listener of onSignedOut) listener()
  throw new Problem(
    response.status,
    String(answer?.code ?? ''),
    answer?.message ?? `The server answered with status ${response.status}.`,
  )
}

/** @throws Problem */
export const call = <Name extends CallName>(
  name: Name,
  input: CallInput<Name>,
  signal?: AbortSignal,
): Promise<CallResult<Name>> => request('POST', `api/${name}`, input, signal)

async function answerTo(path: string, init: RequestInit): Promise<[Response, string]> {
  try {
    const response = await fetch(urlOf(path), init)
    return [response, await response.text()]
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Problem(0, 'unreachable', 'The server cannot be reached. Is it running?')
  }
}

function parsed(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    return null
  }
}
