import type { AuditEntry, AuditQuery } from '../server/contract.ts'
import { call } from '../server/call.ts'
import { useSession } from '../shell/session.ts'
import { href, useFilters } from '../state/router.ts'
import { usePages } from '../state/use-pages.ts'
import { shortId } from '../text/format.ts'
import { Link } from '../ui/button.tsx'
import { Outside, Time } from '../ui/facts.tsx'
import { FilterBar, TextFilter, SpanFilter } from '../ui/filter-bar.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Empty } from '../ui/notes.tsx'
import { PagedTable } from '../ui/table.tsx'
import { TenantFilter, TenantName } from '../ui/tenant.tsx'

const FILTERS = ['action', 'actor', 'target', 'tenant', 'since', 'until'] as const

export function AuditScreen() {
  const { values, set, clear, given, any } = useFilters(FILTERS)
  const pages = usePages(
    JSON.stringify(given),
    (after, signal) =>
      call('audit.list', { ...(given as AuditQuery), ...(after && { after }) }, signal),
    ['audit'],
  )
  return (
    <Screen
      title="Audit"
      about="Who changed which users, keys and webhooks. Secrets stand here as ***."
    >
      <FilterBar
        any={any}
        onClear={clear}
        moreUsed={Boolean(values.target || values.tenant || values.since || values.until)}
        more={
          <>
            <TextFilter
              label="Target"
              value={values.target}
              onValue={(target) => set({ target })}
              placeholder="Id, or a kind"
            />
            <TenantFilter value={values.tenant} onValue={(tenant) => set({ tenant })} />
            <SpanFilter since={values.since} until={values.until} onSpan={set} />
          </>
        }
      >
        <TextFilter
          label="Action"
          value={values.action}
          onValue={(action) => set({ action })}
          placeholder="webhook.update"
        />
        <TextFilter
          label="Actor"
          value={values.actor}
          onValue={(actor) => set({ actor })}
          placeholder="Id, or a kind"
        />
      </FilterBar>
      <Panel flush>
        <PagedTable
          label="Changes"
          pages={pages}
          id={({ id }) => id}
          columns={[
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
            { name: 'Tenant', cell: ({ tenant }) => tenant && <TenantName of={tenant} /> },
            { name: 'Address', cell: ({ ip }) => ip && <bdi class="mono">{ip}</bdi> },
            { name: 'When', kind: 'end', cell: ({ at }) => <Time at={at} /> },
          ]}
          empty={
            any ? (
              <Empty title="No change matches">Clear some of the filters to see more.</Empty>
            ) : (
              <Empty title="Nothing was changed yet" />
            )
          }
        />
      </Panel>
    </Screen>
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

const TargetName = ({ of: { id, name } }: { of: AuditEntry['target'] }) => (
  <bdi class={name === null ? 'mono' : undefined} title={id}>
    {name ?? shortId(id)}
  </bdi>
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
