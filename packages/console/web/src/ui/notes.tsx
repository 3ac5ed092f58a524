/** Notes of the page: a list is empty, something went wrong, something was done. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { mayPass, type Problem } from '../server/call.ts'
import type { Answer } from '../state/queries.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

export const Empty = ({
  title,
  children,
  action,
}: {
  title: string
  children?: ComponentChildren
  action?: ComponentChildren
}) => (
  <div class="empty">
    <svg viewBox="0 0 120 24" width="120" height="24" aria-hidden="true">
      <path class="tape-line" d="M4 20h112" />
      <path d="M12 20v-5M28 20v-9M44 20v-4M60 20V8M76 20v-6M92 20v-10M108 20v-3" />
    </svg>
    <h2>{title}</h2>
    {children && <p>{children}</p>}
    {action}
  </div>
)

/** What to do about a problem, beside the server's message. */
function adviceFor(problem: Problem): string | undefined {
  const { statusCode, code } = problem
  if (code === 'SVC_AUTH_INVALID_KEY') return 'Is it whole? It may have been revoked, or expired.'
  if (mayPass(problem)) return 'It is asked again every five seconds.'
  if (statusCode === 401) return 'Sign in again: the session is over.'
  if (statusCode === 403) return 'Ask for a key or a link that may do this.'
  if (statusCode === 404) return 'It may have been deleted, or it is out of your reach.'
  if (statusCode === 429) return 'Wait a moment, then try again.'
  if (statusCode >= 500)
    return 'Try again; if it stays, tell who runs the application: its log says why.'
  return undefined
}

const asSentence = (text: string): string => text.replace(/^[a-z]/, (first) => first.toUpperCase())

export const ProblemNote = ({ problem, retry }: { problem: Problem; retry?: () => void }) => (
  <div class="note bad" role="alert">
    <Icon name="warning" />
    <div>
      <p>
        <bdi>{asSentence(problem.message)}</bdi>
      </p>
      <p class="hint">
        {adviceFor(problem)} {problem.code.startsWith('SVC_') && <code>{problem.code}</code>}
      </p>
    </div>
    {retry && <Button onClick={retry}>Try again</Button>}
  </div>
)

const SIGNS = { ok: 'check', info: 'info', warn: 'warning', bad: 'warning' } as const

export const Note = ({
  kind,
  children,
  action,
}: {
  kind: 'info' | 'warn' | 'bad' | 'ok'
  children: ComponentChildren
  action?: ComponentChildren
}) => (
  <div class={`note ${kind}`}>
    <Icon name={SIGNS[kind]} />
    <div>{children}</div>
    {action}
  </div>
)

/** As high as what comes: what is below it stays where it is. */
type Like = 'rows' | 'chart' | 'note'

/** Its words are shown only where an answer takes longer than a moment, so that the page does not flicker. */
export function Loading({ what = 'Loading', like }: { what?: string; like?: Like | undefined }) {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 200)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class={like ? `loading like-${like}` : 'loading'} role="status">
      {shown && (
        <>
          <span class="spinner" /> {what}
        </>
      )}
    </div>
  )
}

/** What was read, or why it was not. `quietly`: a problem is not shown beside an older answer. */
export const Answered = <Data,>({
  of: { data, problem, loading, reload },
  quietly = false,
  like,
  children,
}: {
  of: Answer<Data>
  quietly?: boolean
  like?: Like
  children: (data: Data) => ComponentChildren
}) => (
  <>
    {problem && !(quietly && data) && <ProblemNote problem={problem} retry={reload} />}
    {loading && <Loading like={like} />}
    {data && children(data)}
  </>
)
