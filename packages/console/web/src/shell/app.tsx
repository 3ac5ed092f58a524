/** Shows the sign-in, or the screens of the session. */
import { useEffect, useState } from 'preact/hooks'
import type { Session } from '../server/contract.ts'
import { request, whenSignedOut, type Problem } from '../server/call.ts'
import { closeStream, openStream } from '../server/live.ts'
import { asProblem } from '../state/use-query.ts'
import { ProblemNote } from '../ui/notes.tsx'
import { Toasts } from '../ui/toasts.tsx'
import { Frame } from './frame.tsx'
import { SessionContext } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { applyTheme } from './theme.ts'

export function App() {
  const [session, setSession] = useState<Session>()
  const [problem, setProblem] = useState<Problem>()
  const load = () =>
    request<Session>('GET', 'api/session')
      .then((loaded) => {
        applyTheme(loaded.theme)
        setSession(loaded)
        setProblem(undefined)
      })
      .catch((error: unknown) => setProblem(asProblem(error)))
  useEffect(() => {
    void load()
    return whenSignedOut(() => void load())
  }, [])
  const signedIn = session?.signedIn === true
  useEffect(() => {
    if (!signedIn) return
    openStream()
    return closeStream
  }, [signedIn])

  if (problem) {
    return (
      <main class="sign-in">
        <ProblemNote problem={problem} retry={() => void load()} />
      </main>
    )
  }
  // The page shows its name meanwhile, which index.html has.
  if (!session) return null
  if (!session.signedIn) return <SignIn session={session} onSession={setSession} />
  return (
    <SessionContext.Provider value={session}>
      <Frame onSession={setSession} />
      <Toasts />
    </SessionContext.Provider>
  )
}
