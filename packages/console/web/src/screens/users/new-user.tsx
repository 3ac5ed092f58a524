import { useState } from 'preact/hooks'
import { useSession } from '../../shell/session.ts'
import { go, href } from '../../state/router.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { TenantField } from '../../ui/tenant.tsx'

/** The fields of a new user, and what they hold: nothing as long as one of them lacks. */
export function useUserForm(initial: string) {
  const { session } = useSession()
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState('')
  const [tenant, setTenant] = useState(initial)
  const form = (
    <>
      <TextField label="Name" value={name} onValue={setName} required />
      <TextField label="E-mail" type="email" value={email} onValue={setEmail} required />
      <div class="pair">
        <TextField
          label="Role"
          value={role}
          onValue={setRole}
          hint="A word of yours. Empty: user."
        />
        {session.operator && (
          <TenantField value={tenant} onValue={setTenant} hint="Empty: yours." />
        )}
      </div>
    </>
  )
  const user = email.trim() &&
    name.trim() && {
      email: email.trim(),
      name: name.trim(),
      ...(role.trim() && { role: role.trim() }),
      ...(tenant.trim() && { tenant: tenant.trim() }),
    }
  return { form, user: user || undefined }
}

export function NewUserDialog({ tenant, onClose }: { tenant: string; onClose: () => void }) {
  const { form, user } = useUserForm(tenant)
  return (
    <FormDialog
      title="New user"
      submit="Create user"
      disabled={!user}
      call="users.create"
      input={() => user}
      onDone={({ id }) => go(href(`users/${id}`))}
      onClose={onClose}
    >
      {form}
    </FormDialog>
  )
}
