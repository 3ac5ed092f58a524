import { useState } from 'preact/hooks'
import type { Session, SignedOut } from '../server/contract.ts'
import { request } from '../server/call.ts'
import { useChange } from '../state/use-change.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Note, ProblemNote } from '../ui/notes.tsx'
import { Brand } from './brand.tsx'
import { leaveUsedLink, UsedLink } from './used-link.tsx'

interface SignInProps {
  session: SignedOut
  onSession: (session: Session) => void
}

export const SignIn = ({ session, onSession }: SignInProps) => (
  <main class="sign-in">
    <div class="panel">
      <div class="brand">
        <Brand theme={session.theme} />
      </div>
      <h1>Sign in</h1>
      <UsedLink />
      <SignInForm session={session} onSession={onSession} />
    </div>
  </main>
)

/** Lies over the page whose session has ended, and keeps what was typed there. */
export const SignInAgain = ({ session, onSession }: SignInProps) => (
  <Dialog title="Your session has ended" sticky covering onClose={() => location.reload()}>
    <div class="form">
      <p>
        Its time is over, or somebody ended it. What you have typed is still here after you sign in
        again.
      </p>
      <SignInForm session={session} onSession={onSession} />
    </div>
  </Dialog>
)

function SignInForm({ session, onSession }: SignInProps) {
  const [key, setKey] = useState('')
  const { busy, problem, run } = useChange()
  const signIn = async () => {
    const signedIn = await run(() => request<Session>('POST', 'api/session', { key: key.trim() }))
    if (!signedIn) return
    leaveUsedLink()
    onSession(signedIn)
  }
  if (session.signIn === 'host') {
    return (
      <Note kind="info">
        This page is opened from the application. Sign in there, or ask for a new link: each works
        once.
      </Note>
    )
  }
  return (
    <>
      <p class="about">
        With an API key that has <code>admin</code>, <code>auth:manage</code> or{' '}
        <code>webhooks:manage</code>. The key is exchanged for a session.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!busy) void signIn()
        }}
      >
        <TextField
          label="API key"
          type="password"
          value={key}
          onValue={setKey}
          required
          autoFocus
          mono
          autoComplete="off"
        />
        {problem && <ProblemNote problem={problem} />}
        <Button type="submit" kind="primary" busy={busy}>
          Sign in
        </Button>
      </form>
    </>
  )
}
