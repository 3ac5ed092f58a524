/** Shows the sign-in, or the screens of the session. */
import { useEffect, useState } from 'preact/hooks'
import type { Session, SignedOut } from '../server/contract.ts'
import { asProblem, mayPass, request, whenSignedOut, type Problem } from '../server/call.ts'
import { closeStream, openStream, whenStreamLost } from '../server/live.ts'
import { queries } from '../state/queries.ts'
import { forgetPlaces } from '../state/router.ts'
import { ProblemNote } from '../ui/notes.tsx'
import { Toasts } from '../ui/toasts.tsx'
import { Frame } from './frame.tsx'
import { SessionContext } from './session.ts'
import { SignIn, SignInAgain } from './sign-in.tsx'
import { applyTheme } from './theme.ts'

const whoIs = (session: Session | undefined): string =>
  session?.signedIn ? JSON.stringify([session.via, session.tenant, session.userId]) : ''

const AGAIN_MS = 5000

export function App() {
  const [session, setSession] = useState<Session>()
  // The session of the page has ended, and the page is kept until somebody signs in again.
  const [ended, setEnded] = useState<SignedOut>()
  const [problem, setProblem] = useState<Problem>()
  const take = (loaded: Session) => {
    applyTheme(loaded)
    // Another person sees nothing of what was read for this one.
    if (whoIs(loaded) !== whoIs(session)) {
      queries.clear()
      forgetPlaces()
    }
    setEnded(undefined)
    // Before the screens read anything: they wait for it.
    if (loaded.signedIn) openStream()
    setSession(loaded)
    setProblem(undefined)
  }
  const load = () =>
    request<Session>('GET', 'api/session')
      .then(take)
      .catch((error: unknown) => {
        const problem = asProblem(error)
        setProblem(problem)
        if (mayPass(problem)) setTimeout(() => void load(), AGAIN_MS)
      })
  useEffect(() => {
    void load()
    // Where the server does not answer, the screens say so themselves.
    const look = () =>
      void request<Session>('GET', 'api/session').then(
        (loaded) => !loaded.signedIn && setEnded(loaded),
        () => {},
      )
    const stops = [whenSignedOut(look), whenStreamLost(look)]
    return () => stops.forEach((stop) => stop())
  }, [])
  const isLive = session?.signedIn === true && ended === undefined
  useEffect(() => {
    if (!isLive) return
    openStream()
    return closeStream
  }, [isLive])

  if (problem) {
    return (
      <main class="sign-in">
        <ProblemNote problem={problem} retry={() => void load()} />
      </main>
    )
  }
  // The page shows its name meanwhile, which index.html has.
  if (!session) return null
  if (!session.signedIn) return <SignIn session={session} onSession={take} />
  return (
    // Another person begins with a page of their own.
    <SessionContext.Provider value={session} key={whoIs(session)}>
      <Frame onSession={take} />
      {ended && (
        <SignInAgain session={ended} onSession={take} isOfLink={session.via === 'portal'} />
      )}
      <Toasts />
    </SessionContext.Provider>
  )
}
