/**
 * The requests and answers between the page and the server. The page imports this file as types
 * only, so it holds nothing but types.
 *
 * - `POST <base>/api/<operation>` with a JSON body, the `input` → 200 and the `result`, or
 *   {@link ErrorAnswer} with its status. `content-type: application/json` is needed; a browser
 *   sends `Origin` and `Sec-Fetch-Site` itself.
 * - `GET <base>/api/session` → {@link Session}; `POST <base>/api/session` {@link SignIn} → the same
 *   with `signedIn: true`, or 401/403/429; `POST <base>/api/session/end` `{}` → {@link Session}.
 * - `GET <base>/api/live` → Server-Sent Events without names, whose `data` is a {@link Hint}.
 *
 * `<base>`: the server writes the path that the console is mounted at into the page, as `<meta
 * name="svc-console-base" content="/console">`, in place of `%BASE%` of the built `index.html`, and
 * puts it before each `./assets/` there; and the theme's name in place of `%NAME%`.
 */
import type { CALLS } from './calls/calls.ts'

export type * from './contract/access.ts'
export type * from './contract/lists.ts'
export type * from './contract/session.ts'
export type * from './contract/webhooks.ts'

/** All operations, by the names in their URLs. */
type Calls = typeof CALLS
export type CallName = keyof Calls
export type CallInput<Name extends CallName> = Parameters<Calls[Name]['run']>[0]
export type CallResult<Name extends CallName> = Awaited<ReturnType<Calls[Name]['run']>>
