/** A change by the user: whether it is under way, and the server's error. */
import { useState } from 'preact/hooks'
import type { Problem } from '../server/call.ts'
import { asProblem } from './use-query.ts'

export function useChange() {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const run = async <Result>(change: () => Promise<Result>): Promise<Result | undefined> => {
    setBusy(true)
    setProblem(undefined)
    try {
      return await change()
    } catch (error) {
      setProblem(asProblem(error))
      return undefined
    } finally {
      setBusy(false)
    }
  }
  return { busy, problem, run, clear: () => setProblem(undefined) }
}
