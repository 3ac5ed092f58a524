import { useSession } from '../../shell/session.ts'
import { useCall } from '../../state/queries.ts'
import { href } from '../../state/router.ts'
import { Link } from '../../ui/button.tsx'
import { Id } from '../../ui/facts.tsx'

/** The name of a user as a link, or the id where the session may not read it. */
export function UserName({ id }: { id: string }) {
  const { may } = useSession()
  const { data } = useCall('users.get', may('users:read') ? { id } : null)
  if (!may('users:read')) return <Id id={id} what="user" />
  if (!data) return <Id id={id} what="user" to={href(`users/${id}`)} />
  return (
    <Link to={href(`users/${id}`)}>
      <bdi>{data.name}</bdi>
    </Link>
  )
}
