import type { AuditEntry } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { useCall } from '../state/queries.ts'
import { href } from '../state/router.ts'
import { shortId } from '../text/format.ts'
import { Link } from '../ui/button.tsx'
import { ExactTime, Outside, Time } from '../ui/facts.tsx'
import { CsvButton } from '../ui/csv.tsx'
import { SPAN, TENANT } from '../ui/filters.tsx'
import { ListScreen, useList } from '../ui/list-screen.tsx'
import { Empty } from '../ui/notes.tsx'
import type { Column } from '../ui/table.tsx'
import { TenantName } from '../ui/tenant.tsx'

/** The changes that are made often. */
const ACTIONS = [
  'key.create',
  'key.update',
  'key.rotate',
  'key.revoke',
  'user.create',
  'user.delete',
  'webhook.create',
  'webhook.update',
  'webhook.delete',
  'portal.link',
  'session.create',
  'session.end',
]
const KINDS = ['key', 'bootstrap', 'console', 'process', 'system']

const FILTERS = [
  { name: 'action', label: 'Action', placeholder: 'webhook.update', suggested: ACTIONS },
  { name: 'actor', label: 'Actor', placeholder: 'Id, or a kind', suggested: KINDS },
  {
    name: 'target',
    label: 'Target',
    placeholder: 'Id, or a kind',
    suggested: ['key', 'user', 'webhook', 'tenant'],
    more: true,
  },
  { ...TENANT, more: true },
  ...SPAN,
]

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    name: 'Change',
    kind: 'main',
    bare: true,
    cell: (row) => (
      <>
        <b>{row.action}</b> <Target of={row} />
        <Changes of={row} />
      </>
    ),
  },
  { name: 'By', cell: (row) => <Actor of={row} /> },
  { name: 'Tenant', operators: true, cell: ({ tenant }) => tenant && <TenantName of={tenant} /> },
  { name: 'Address', cell: ({ ip }) => ip && <bdi class="mono">{ip}</bdi> },
  { name: 'When', kind: 'end', cell: ({ at }) => <Time at={at} /> },
]

export function AuditScreen() {
  const list = useList('audit.list', FILTERS)
  return (
    <ListScreen
      title="Audit"
      about="Who changed which users, keys and webhooks. Secrets stand here as ***."
      actions={<CsvButton list={list} />}
      list={list}
      label="Changes"
      columns={COLUMNS}
      unmatched="No change matches"
      empty={<Empty title="Nothing was changed yet" />}
    />
  )
}

const PLACES: Record<string, 'webhooks' | 'keys' | 'users'> = {
  webhook: 'webhooks',
  key: 'keys',
  user: 'users',
}

function Target({ of: { target } }: { of: AuditEntry }) {
  const { may } = useSession()
  const place = PLACES[target.kind]
  if (!place || !may(`${place}:read`)) return <TargetName of={target} />
  return (
    <Link to={href(`${place}/${target.id}`)}>
      <span class="unseen">{`${target.kind} `}</span>
      <TargetName of={target} />
    </Link>
  )
}

/** It may be a URL. */
const TargetName = ({ of: { id, name } }: { of: AuditEntry['target'] }) =>
  name === null ? (
    <bdi class="mono" title={id}>
      {shortId(id)}
    </bdi>
  ) : (
    <Outside text={name} most={80} />
  )

const ACTORS: Record<AuditEntry['actor']['kind'], string> = {
  key: 'API key',
  bootstrap: 'Bootstrap key',
  console: 'Console',
  process: 'The application',
  system: 'By itself',
}

function Actor({ of: { actor } }: { of: AuditEntry }) {
  const { may } = useSession()
  return (
    <span class="nowrap">
      {ACTORS[actor.kind]}{' '}
      {(actor.name ?? actor.userId) && (
        <bdi title={actor.userId ?? undefined}>{actor.name ?? actor.userId}</bdi>
      )}{' '}
      {actor.keyId && may('keys:read') && (
        <Link to={href(`keys/${actor.keyId}`)} class="mono">
          <span class="unseen">key </span>
          {shortId(actor.keyId)}
        </Link>
      )}
    </span>
  )
}

/** Who did it last, and when: nothing where the session does not see the audit. */
export function ByWhom({
  target,
  action,
  when = () => true,
  exact = false,
}: {
  target: string
  action: string
  when?: (row: AuditEntry) => boolean
  /** With the time. */
  exact?: boolean
}) {
  const { may } = useSession()
  const { data } = useCall('audit.list', may('audit:read') ? { target, action, limit: 20 } : null)
  const row = data?.items.find(when)
  if (!row) return null
  return (
    <>
      {exact && (
        <>
          {' '}
          since <ExactTime at={row.at} />
        </>
      )}{' '}
      by <Actor of={row} />
    </>
  )
}

/**
 * How many changed fields are shown at once. Of more only the names are shown until they are
 * expanded.
 */
const FEW = 2

function Changes({ of: { changes } }: { of: AuditEntry }) {
  const fields = Object.entries(changes ?? {})
  if (fields.length === 0) return null
  const list = (
    <ul class="changes">
      {fields.map(([name, { from, to }]) => (
        <li key={name}>
          <span class="faint">{name}</span>{' '}
          {from !== null && <del>{<Outside text={shown(from)} most={200} />}</del>}{' '}
          <ins>
            <Outside text={shown(to)} most={200} />
          </ins>
        </li>
      ))}
    </ul>
  )
  if (fields.length <= FEW) return list
  return (
    <details class="changes-of">
      <summary>{namesOf(fields.map(([name]) => name))}</summary>
      {list}
    </details>
  )
}

const namesOf = (names: readonly string[]): string =>
  names.length <= 4
    ? names.join(', ')
    : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`

const shown = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? 'none' : JSON.stringify(value)
