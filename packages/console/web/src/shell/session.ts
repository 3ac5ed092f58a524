/** Who is signed in, and what that session may see and do. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Right, SignedIn } from '../server/contract.ts'

export const SessionContext = createContext<SignedIn | null>(null)

export function useSession() {
  const session = useContext(SessionContext)
  if (!session) throw new Error('This part of the page needs a session.')
  return { session, may: (right: Right) => session.can.includes(right) }
}
