import { reasonOf } from './host-api.ts'
import type { Context } from './verb.ts'

const ANSWERED_WITHIN_MS = 10_000

/** Sends a request to an application on this machine, and prints what it is and its answer. */
export async function post(
  context: Context,
  to: URL,
  request: {
    headers: Record<string, string> | [string, string][]
    body: string | Uint8Array<ArrayBuffer>
  },
  facts: { event: string; id: string; [fact: string]: string | null },
  json = false,
): Promise<void> {
  const beganMs = performance.now()
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(ANSWERED_WITHIN_MS)])
  const { answer, error } = await fetch(to, {
    method: 'POST',
    redirect: 'manual',
    signal,
    ...request,
  })
    .then(async (response) => {
      await response.arrayBuffer()
      return { answer: response.status, error: null }
    })
    .catch((failure: Error) => ({ answer: null, error: reasonOf(failure) }))
  if (context.signal.aborted) return
  const durationMs = Math.round(performance.now() - beganMs)
  if (json) context.out(JSON.stringify({ ...facts, answer, error, durationMs }))
  else {
    const isFine = answer !== null && answer >= 200 && answer < 300
    const result = context.style(isFine ? 'green' : 'red', String(answer ?? error))
    context.out(`${facts.event}  ${facts.id}  ${result}  ${durationMs} ms`)
  }
}
