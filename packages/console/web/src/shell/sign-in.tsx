import { useMutation } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import type { Session, SignedOut } from '../server/contract.ts'
import { asProblem, request } from '../server/call.ts'
import { usePlace } from '../state/router.ts'
import { queries } from '../state/queries.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Note, ProblemNote } from '../ui/notes.tsx'
import { Brand } from './brand.tsx'
import { isUsedLink, leaveUsedLink, NewLink } from './used-link.tsx'

interface SignInProps {
  session: SignedOut
  onSession: (session: Session) => void
}

export function SignIn({ session, onSession }: SignInProps) {
  const isUsed = isUsedLink(usePlace())
  return (
    <main class="sign-in">
      <div class="panel">
        <div class="brand">
          <Brand theme={session.theme} />
        </div>
        {isUsed ? (
          <div class="form" role="alert">
            <h1>Your link has expired</h1>
            <NewLink session={session} />
          </div>
        ) : (
          <h1>Sign in</h1>
        )}
        {isUsed && session.signIn === 'key' && (
          <details>
            <summary>For operators: sign in with an API key</summary>
            <SignInForm session={session} onSession={onSession} />
          </details>
        )}
        {!isUsed && <SignInForm session={session} onSession={onSession} />}
      </div>
    </main>
  )
}

/** Lies over the page whose session has ended, and keeps what was typed there. `isOfLink`: it began by a portal link. */
export const SignInAgain = ({
  session,
  onSession,
  isOfLink,
}: SignInProps & { isOfLink: boolean }) => (
  <Dialog title="Your session has ended" sticky covering onClose={() => location.reload()}>
    <div class="form">
      <p>
        Its time is over, or somebody ended it.
        {!isOfLink && ' What you have typed is still here after you sign in again.'}
      </p>
      {isOfLink ? (
        <NewLink session={session} />
      ) : (
        <SignInForm session={session} onSession={onSession} />
      )}
    </div>
  </Dialog>
)

function SignInForm({ session, onSession }: SignInProps) {
  const [key, setKey] = useState('')
  const signIn = useMutation(
    {
      mutationFn: (of: string) => request<Session>('POST', 'api/session', { key: of.trim() }),
      onSuccess: (signedIn) => {
        leaveUsedLink()
        onSession(signedIn)
      },
    },
    queries,
  )
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
        <code>webhooks:manage</code>. The key is exchanged for a session. A new host has one key:
        the secret that the option <code>bootstrapKeySecret</code> names.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!signIn.isPending) signIn.mutate(key)
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
        {signIn.error && <ProblemNote problem={asProblem(signIn.error)} />}
        <Button type="submit" kind="primary" busy={signIn.isPending}>
          Sign in
        </Button>
      </form>
    </>
  )
}
