import { useState } from 'preact/hooks'
import type { ListedKey } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { href } from '../../state/router.ts'
import { keyState } from '../../text/states.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Badge, Tags, Time } from '../../ui/facts.tsx'
import { choicesOf } from '../../ui/field.tsx'
import { SEARCH, TENANT } from '../../ui/filters.tsx'
import { ListScreen, useList } from '../../ui/list-screen.tsx'
import { Empty } from '../../ui/notes.tsx'
import type { Column } from '../../ui/table.tsx'
import { TenantName } from '../../ui/tenant.tsx'
import { NearLimits } from './near-limits.tsx'
import { NewKeyDialog } from './new-key.tsx'
import { MostUsed } from './used.tsx'

const DAY_MS = 86_400_000

const daysAgo = (days: string): string =>
  days && new Date(Math.floor(Date.now() / 60_000) * 60_000 - Number(days) * DAY_MS).toISOString()
const daysSince = (iso: string): string =>
  iso && String(Math.round((Date.now() - new Date(iso).getTime()) / DAY_MS))

const FILTERS = [
  SEARCH,
  {
    name: 'state',
    label: 'State',
    choices: choicesOf(['Active', 'Disabled', 'Expired', 'Revoked']),
  },
  {
    name: 'unusedSince',
    label: 'Use',
    choices: ['1', '7', '30', '90'].map((days) => ({
      value: days,
      label: days === '1' ? 'Unused for a day' : `Unused for ${days} days`,
    })),
    shown: daysSince,
    read: daysAgo,
  },
  {
    name: 'expiresWithinDays',
    label: 'Expiry',
    choices: ['7', '30', '90'].map((days) => ({ value: days, label: `Within ${days} days` })),
  },
  TENANT,
  {
    name: 'prefix',
    label: 'Begins with',
    placeholder: 'svc_…',
    read: (typed: string) => typed.slice(0, 8),
    more: true,
  },
  { name: 'userId', label: 'User id', more: true },
]

const keysInput = ({ expiresWithinDays: days, ...given }: Partial<Record<string, string>>) => ({
  ...given,
  ...(days && { expiresWithinDays: Number(days) }),
  include: 'usage',
})

export function KeysScreen() {
  const { may } = useSession()
  const [making, setMaking] = useState(false)
  const list = useList('keys.list', FILTERS, keysInput)
  const add = may('keys:write') && (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      New key
    </Button>
  )
  return (
    <ListScreen
      title="API keys"
      about="Who may call the application, and what with."
      actions={add}
      list={list}
      {...KEYS_TABLE}
      unmatched="No key matches"
      empty={
        <Empty title="No keys yet" action={add}>
          A key belongs to a user, and has scopes, limits and an expiry of its own.
        </Empty>
      }
    >
      <NearLimits tenant={list.values['tenant'] ?? ''} />
      {making && (
        <NewKeyDialog userId={list.values['userId'] ?? ''} onClose={() => setMaking(false)} />
      )}
    </ListScreen>
  )
}

/** Not on the page of its owner. */
export const OWNER: Column<ListedKey> = {
  name: 'Owner',
  cell: ({ userId, owner }) =>
    owner !== null && (
      <Link to={href(`users/${userId}`)} class="cut">
        <bdi>{owner}</bdi>
      </Link>
    ),
}

const COLUMNS: readonly Column<ListedKey>[] = [
  {
    name: 'Key',
    kind: 'main',
    bare: true,
    cell: ({ id, label, keyPrefix }) => (
      <>
        <Link to={href(`keys/${id}`)} class="main-line">
          {label ? <bdi>{label}</bdi> : <span class="mono">{`${keyPrefix}…`}</span>}
        </Link>
        {label && <span class="sub-line mono">{`${keyPrefix}…`}</span>}
      </>
    ),
  },
  {
    name: 'State',
    kind: 'state',
    cell: (row) => <Badge tone={keyState(row).tone}>{keyState(row).word}</Badge>,
  },
  {
    name: 'Scopes',
    cell: ({ scopes }) =>
      scopes.length > 0 ? <Tags of={scopes} most={2} /> : <span class="faint">none</span>,
  },
  { name: 'Used', cell: (row) => <MostUsed of={row} /> },
  OWNER,
  { name: 'Tenant', operators: true, cell: ({ tenant }) => <TenantName of={tenant} /> },
  { name: 'Expires', kind: 'end', isLeast: true, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  { name: 'Last used', kind: 'end', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
]

export const KEYS_TABLE = {
  label: 'API keys',
  columns: COLUMNS,
  to: ({ id }: ListedKey): string => href(`keys/${id}`),
}
