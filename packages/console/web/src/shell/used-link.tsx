/** What who came by a portal link sees where it no longer works, `?link=used`, or where the session has ended. */
import type { SignedOut } from '../server/contract.ts'
import { currentPlace, go, href, usePlace, type Place } from '../state/router.ts'
import { Button } from '../ui/button.tsx'
import { Note } from '../ui/notes.tsx'
import { useSession } from './session.ts'

export const isUsedLink = ({ query }: Place): boolean => query.get('link') === 'used'

export function leaveUsedLink(): void {
  if (isUsedLink(currentPlace())) go(href(''), { replace: true })
}

/** For who is not signed in. In a frame, the page around it is left. */
export const NewLink = ({ session: { returnUrl } }: { session: SignedOut }) =>
  returnUrl === null ? (
    <p>Go back to the application, and open this page from there again.</p>
  ) : (
    <>
      <p>Each link works once, and for a short time. The application gives a new one.</p>
      <a class="button primary" href={returnUrl} target="_top">
        Back to the application
      </a>
    </>
  )

/** For who is: the session is an older one, perhaps of another person. */
export function UsedLinkOfSession() {
  if (!isUsedLink(usePlace())) return null
  return (
    <div role="alert">
      <Note kind="warn" action={<Button onClick={leaveUsedLink}>Continue</Button>}>
        <b>This link was used or has expired. Ask for a new one. </b>
        <Owner /> If this is not you, sign out.
      </Note>
    </div>
  )
}

function Owner() {
  const { userId, tenant, operator } = useSession().session
  return (
    <>
      You are signed in already
      {userId !== null && (
        <>
          {' '}
          as user <bdi>{userId}</bdi>
        </>
      )}
      {operator ? (
        ', as an operator who sees all tenants.'
      ) : (
        <>
          , for the tenant <bdi>{tenant}</bdi>.
        </>
      )}
    </>
  )
}
