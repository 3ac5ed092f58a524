import { useSession } from '../shell/session.ts'
import { href } from '../state/router.ts'
import { useTenants } from '../state/names.ts'
import { Link } from './button.tsx'
import { TextField } from './field.tsx'

/** A tenant that is there is chosen; of another one the field says that it is new. */
export function TenantField({
  value,
  onValue,
  hint,
  required = false,
  label = 'Tenant',
}: {
  value: string
  onValue: (value: string) => void
  hint: string
  required?: boolean
  label?: string
}) {
  const { may } = useSession()
  const names = useTenants(value)
  const wanted = value.trim()
  const isNew = wanted !== '' && may('tenants:read') && !names.includes(wanted)
  return (
    <TextField
      label={label}
      value={value}
      onValue={onValue}
      required={required}
      list={names}
      hint={isNew ? `Nothing has the tenant “${wanted}” yet. Check its name.` : hint}
    />
  )
}

/** Whose something is. Only an operator sees more than one tenant. */
export function TenantName({ of }: { of: string | null }) {
  const { may } = useSession()
  if (of === null) return <span class="faint">operator</span>
  const name = (
    <bdi class="cut" title={of}>
      {of}
    </bdi>
  )
  if (!may('tenants:read')) return name
  return <Link to={href('tenants', { tenant: of })}>{name}</Link>
}
