/** Makes a link into the portal of a tenant, and shows it once. */
import { useState } from 'preact/hooks'
import type { CallResult, Right } from '../server/contract.ts'
import { useCall } from '../state/queries.ts'
import { exact } from '../text/format.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { Code } from '../ui/code.tsx'
import { Choices, Select } from '../ui/field.tsx'
import { ProblemNote } from '../ui/notes.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { TenantField } from '../ui/tenant.tsx'

const RIGHTS: Record<string, string> = {
  'webhooks:read': 'Sees its webhooks.',
  'webhooks:write': 'Makes, changes and tests webhooks, and reads their secrets.',
  'deliveries:read': 'Sees what was sent, and what came back.',
  'deliveries:write': 'Sends again, and recovers what was missed.',
  'events:read': 'Sees the catalogue and its events with their payloads.',
  'inbound:read': 'Sees inbound requests of its own.',
  'inbound:write': 'Replays inbound requests.',
  'keys:read': 'Sees its API keys and their use.',
  'keys:write': 'Makes, changes, rotates and revokes API keys.',
  'users:read': 'Sees its users.',
  'users:write': 'Makes and deletes its users.',
  'audit:read': 'Sees who changed what.',
}

const EXPIRIES = [
  { value: '600', label: 'in ten minutes' },
  { value: '3600', label: 'in an hour' },
  { value: '86400', label: 'in a day' },
  { value: '604800', label: 'in a week' },
]

/** What the application runs, with what is chosen here. */
const embedding = (tenant: string, can: readonly string[]): string =>
  `const link = await app.svc.console.portalLink({
  tenant: ${JSON.stringify(tenant)},
  can: ${JSON.stringify(can)},
  embed: true,
})
const html = \`<iframe src="\${link}" allow="clipboard-write"></iframe>\``

interface Given {
  name: string
  usual: boolean
}

const PRESETS = [
  {
    name: 'Webhooks',
    about: 'Its webhooks with their secrets, their deliveries, its events with their payloads.',
    has: ({ usual }: Given) => usual,
  },
  {
    name: 'Webhooks and keys',
    about: 'Also its API keys: it makes, changes and revokes them, and sees their use.',
    has: ({ usual, name }: Given) => usual || name.startsWith('keys:'),
  },
  {
    name: 'Everything',
    about: 'Also its inbound requests, its users, and who changed what.',
    has: () => true,
  },
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
  // One that gives no right beside those of the one before it would be the same twice.
  const presets = PRESETS.map(({ has, ...preset }) => {
    const of = all.filter(has).map(({ name }) => name)
    const isChosen = of.length === can.length && of.every((right) => can.includes(right))
    return { ...preset, of, isChosen }
  }).filter(({ of }, index, others) => of.length > (others[index - 1]?.of.length ?? 0))
  if (made) {
    const link = new URL(made.link, location.origin).href
    return (
      <SecretDialog
        title="The link is made"
        secret={link}
        what="link"
        action={
          <a class="button plain" href={link}>
            Open as <bdi class="cut">{tenant.trim()}</bdi>
          </a>
        }
        onClose={onClose}
      >
        {`Whoever opens it first is signed in as ${tenant.trim()}. It works once, until ${exact(made.expiresAt).slice(0, 16)}, and is not shown again. Opened in this browser, it takes the place of your own session.`}
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
        <TenantField value={tenant} onValue={setTenant} required hint="Whose portal it opens." />
        <Select label="The link ends" value={expiry} onValue={setExpiry} choices={EXPIRIES} />
      </div>
      {rights.problem && <ProblemNote problem={rights.problem} retry={rights.reload} />}
      <div class="segments" role="group" aria-label="Rights that are often given">
        {presets.map(({ name, of, isChosen }) => (
          <button key={name} type="button" aria-pressed={isChosen} onClick={() => setChosen(of)}>
            {name}
          </button>
        ))}
      </div>
      <p class="hint" role="status">
        {presets.find(({ isChosen }) => isChosen)?.about ??
          'A choice of your own, as ticked below.'}
      </p>
      <Choices
        label="Rights"
        hint="What the tenant may do with what is its own."
        all={all.map(({ name }) => ({ value: name, hint: RIGHTS[name] }))}
        chosen={can}
        onChosen={setChosen}
      />
      <details>
        <summary>Embed it in a page of the application</summary>
        <Code text={embedding(tenant.trim() || 'acme', can)} what="code that embeds the portal" />
        <p class="hint">
          The option <code>frameAncestors</code> of <code>svcConsole</code> must name the origin of
          that page. A link works once: make one for each time that the page is shown.
        </p>
      </details>
    </FormDialog>
  )
}
