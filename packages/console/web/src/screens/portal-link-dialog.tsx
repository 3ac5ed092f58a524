/** Makes a link into the portal of a tenant, and shows it once. */
import { useState } from 'preact/hooks'
import type { CallResult, Right } from '../server/contract.ts'
import { useCall } from '../state/queries.ts'
import { exact } from '../text/format.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { Choices, Select, TextField } from '../ui/field.tsx'
import { ProblemNote } from '../ui/notes.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'

const EXPIRIES = [
  { value: '600', label: 'in ten minutes' },
  { value: '3600', label: 'in an hour' },
  { value: '86400', label: 'in a day' },
  { value: '604800', label: 'in a week' },
]

export function PortalLinkDialog({
  tenant: initial,
  onClose,
}: {
  tenant: string
  onClose: () => void
}) {
  const [tenant, setTenant] = useState(initial)
  const [chosen, setChosen] = useState<string[]>()
  const [expiry, setExpiry] = useState('600')
  const [made, setMade] = useState<CallResult<'portal.link'>>()
  const rights = useCall('portal.rights', {})
  const all = rights.data?.items ?? []
  const can = chosen ?? all.filter(({ usual }) => usual).map(({ name }) => name)
  if (made) {
    return (
      <SecretDialog
        title="The link is made"
        secret={new URL(made.link, location.origin).href}
        what="link"
        onClose={onClose}
      >
        {`Whoever opens it first is signed in as ${tenant.trim()}, for eight hours. It works once, until ${exact(made.expiresAt).slice(0, 16)}, and is not shown again.`}
      </SecretDialog>
    )
  }
  return (
    <FormDialog
      title="New portal link"
      submit="Make link"
      wide
      disabled={!tenant.trim() || can.length === 0}
      call="portal.link"
      input={() => ({
        tenant: tenant.trim(),
        can: can as Right[],
        expiresInSeconds: Number(expiry),
      })}
      onDone={setMade}
      onClose={onClose}
    >
      <div class="pair">
        <TextField
          label="Tenant"
          value={tenant}
          onValue={setTenant}
          required
          hint="Whose portal it opens."
        />
        <Select label="The link ends" value={expiry} onValue={setExpiry} choices={EXPIRIES} />
      </div>
      {rights.problem && <ProblemNote problem={rights.problem} retry={rights.reload} />}
      <Choices
        label="Rights"
        hint="What the tenant may do with what is its own."
        all={all.map(({ name }) => ({ value: name }))}
        chosen={can}
        onChosen={setChosen}
      />
    </FormDialog>
  )
}
