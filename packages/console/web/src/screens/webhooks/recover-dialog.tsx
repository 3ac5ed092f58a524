/** Sends what a webhook, or those of a tenant, did not get: first the counts, then the change. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Recovery, Webhook } from '../../server/contract.ts'
import { call } from '../../server/call.ts'
import { useSession } from '../../shell/session.ts'
import { useCall, type Answer } from '../../state/queries.ts'
import { go, href } from '../../state/router.ts'
import { fromLocal, plural, toLocal } from '../../text/format.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Note, ProblemNote } from '../../ui/notes.tsx'
import { TenantField } from '../../ui/tenant.tsx'

type Kind = Recovery['what']

/** What is counted of each kind. */
const KINDS: Record<Kind, string> = {
  dead: 'dead letters',
  failed: 'that wait for their next attempt',
  missing: 'events that never became a delivery',
}
const EVERY_KIND = Object.keys(KINDS) as Kind[]
const WHAT = [
  { value: '', label: 'Everything that did not arrive' },
  { value: 'dead', label: 'Dead letters' },
  { value: 'failed', label: 'Deliveries that wait for their next attempt: now' },
  { value: 'missing', label: 'Events that it never got a delivery of' },
]
const DAY_MS = 86_400_000

interface Span {
  since: string
  until?: string
  perSecond?: number
}
interface Found {
  deliveries: number
  atLeast?: true
}

/** A webhook, or all of a tenant (empty: all that the session reaches). */
type Of = { id: string } | { tenant: string }

const overOf = ({ tenant }: { tenant: string }) => (tenant ? { tenant } : { all: true as const })

const recover = (of: Of, what: Kind, span: Span): Promise<Found> =>
  'id' in of
    ? call('webhooks.recover', { ...of, ...span, what })
    : call('webhooks.recoverMany', { ...overOf(of), ...span, what })

interface Shown {
  title?: string
  /** What is chosen at first. @default everything */
  what?: Kind
  /** Where the span begins. @default when it began to fail, or a day ago */
  since?: string | undefined
  onClose: () => void
}

export const RecoverDialog = ({
  webhook: { id, failingSince },
  since,
  ...shown
}: Shown & { webhook: Pick<Webhook, 'id'> & Partial<Pick<Webhook, 'failingSince'>> }) => (
  // That screen shows the progress.
  <Dialog of={{ id }} to={href(`webhooks/${id}`)} since={since ?? failingSince} {...shown} />
)

/** Over the webhooks of a tenant, or over all. */
export function RecoverMany({ tenant: given, onClose }: { tenant: string; onClose: () => void }) {
  const { session } = useSession()
  const [tenant, setTenant] = useState(given)
  return (
    <Dialog of={{ tenant: tenant.trim() }} onClose={onClose}>
      {session.operator && (
        <TenantField value={tenant} onValue={setTenant} hint="Empty: the webhooks of all." />
      )}
    </Dialog>
  )
}

function Dialog({
  of,
  title = 'Recover deliveries',
  what,
  since: from,
  to,
  onClose,
  children,
}: Omit<Shown, 'since'> & {
  of: Of
  since?: string | null | undefined
  /** Where to go then. */
  to?: string
  children?: ComponentChildren
}) {
  const [kind, setKind] = useState<string>(what ?? '')
  const [since, setSince] = useState(() =>
    toLocal(from ?? new Date(Date.now() - DAY_MS).toISOString()),
  )
  const [until, setUntil] = useState('')
  const [perSecond, setPerSecond] = useState('')
  const span = {
    since: since && fromLocal(since),
    ...(until && { until: fromLocal(until) }),
    ...(Number(perSecond) > 0 && { perSecond: Number(perSecond) }),
  }
  const wanted = EVERY_KIND.filter((one) => kind === '' || kind === one)
  const previews = EVERY_KIND.map((one) => {
    const isAsked = since !== '' && wanted.includes(one)
    return { kind: one, answer: usePreview(of, one, isAsked ? span : null) }
  }).filter((one) => wanted.includes(one.kind))
  const found = previews.reduce((sum, { answer }) => sum + (answer.data?.deliveries ?? 0), 0)
  const isCounted = previews.every(({ answer }) => answer.data)
  const all = previews.some(({ answer }) => answer.data?.atLeast) ? 'more than ' : ''
  const problem = previews.find(({ answer }) => answer.problem)?.answer.problem
  return (
    <FormDialog
      title={title}
      submit={found ? `Send ${all}${plural(found, 'delivery', 'deliveries')}` : 'Send'}
      disabled={!found || !isCounted}
      call="webhooks.recover"
      input={() => span}
      does={async (asked) => {
        let deliveries = 0
        for (const { kind: one, answer } of previews)
          if (answer.data?.deliveries) deliveries += (await recover(of, one, asked)).deliveries
        return deliveries
      }}
      done={(deliveries) => `${plural(deliveries, 'delivery', 'deliveries')} on their way`}
      onDone={() => to && go(to)}
      onClose={onClose}
    >
      {children}
      <Select label="What" value={kind} onValue={setKind} choices={WHAT} />
      <div class="pair">
        <TextField label="From" type="datetime-local" value={since} onValue={setSince} />
        <TextField
          label="Until (empty: now)"
          type="datetime-local"
          value={until}
          onValue={setUntil}
        />
        <TextField
          label="At most a second"
          value={perSecond}
          onValue={setPerSecond}
          placeholder="As fast as it takes"
        />
      </div>
      {problem && <ProblemNote problem={problem} />}
      {since && !problem && (
        <Note kind={isCounted && found === 0 ? 'ok' : 'info'}>
          {isCounted && found === 0 ? (
            'Nothing of that kind in this span.'
          ) : (
            <>
              {isCounted
                ? `${all}${plural(found, 'delivery', 'deliveries')} would be sent.`
                : 'Counting…'}
              <ul class="counts">
                {previews.map(({ kind: one, answer: { data } }) => (
                  <li key={one}>
                    <b>{data ? `${data.atLeast ? 'more than ' : ''}${data.deliveries}` : '…'}</b>{' '}
                    {KINDS[one]}
                  </li>
                ))}
              </ul>
            </>
          )}
        </Note>
      )}
    </FormDialog>
  )
}

function usePreview(of: Of, what: Kind, span: Span | null): Answer<Found> {
  const asked = span && { ...span, what, dryRun: true }
  const one = useCall('webhooks.recover', asked && 'id' in of ? { ...of, ...asked } : null)
  const many = useCall(
    'webhooks.recoverMany',
    asked && 'tenant' in of ? { ...overOf(of), ...asked } : null,
  )
  return 'id' in of ? one : many
}
