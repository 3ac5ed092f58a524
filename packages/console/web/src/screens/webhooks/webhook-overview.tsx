import { useState } from 'preact/hooks'
import type { Webhook } from '../../server/contract.ts'
import { AttemptStrip } from '../../charts/attempt-strip.tsx'
import { useSession } from '../../shell/session.ts'
import { useCall } from '../../state/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Json } from '../../ui/code.tsx'
import { ExactTime, Facts, Outside, Tags, Time } from '../../ui/facts.tsx'
import { Panel } from '../../ui/layout.tsx'
import { Answered, ProblemNote } from '../../ui/notes.tsx'
import { Secret } from '../../ui/secret-dialog.tsx'
import { TenantName } from '../../ui/tenant.tsx'
import { Recoveries } from './recoveries.tsx'
import { DeliveryCharts, useStats } from '../overview/delivery-charts.tsx'

export function WebhookOverview({ webhook }: { webhook: Webhook }) {
  const { may } = useSession()
  const { id, filter, metadata } = webhook
  const recent = useCall(
    'deliveries.list',
    may('deliveries:read') ? { webhookId: id, limit: 96 } : null,
  )
  const stats = useStats(may('deliveries:read') ? { webhookId: id } : null)
  return (
    <>
      <Panel
        title="Latest attempts"
        actions={<span class="hint">Oldest to newest; taller is worse</span>}
      >
        <Answered of={recent} quietly>
          {({ items }) =>
            items.length > 0 ? <AttemptStrip attempts={items} /> : <p class="faint">None yet.</p>
          }
        </Answered>
      </Panel>
      {may('deliveries:read') && <Recoveries webhookId={id} />}
      {may('deliveries:read') && <DeliveryCharts stats={stats} of={id} />}
      <Panel title="Facts">
        <Facts
          rows={[
            ['Events', <Tags of={webhook.events} />],
            ['Tenant', <TenantName of={webhook.tenant} />],
            ['Last success', <Time at={webhook.lastSuccessAt} />],
            ['Last failure', <Time at={webhook.lastFailureAt} />],
            ['Created', <ExactTime at={webhook.createdAt} />],
            ['Changed', <ExactTime at={webhook.updatedAt} />],
            ['Timeout', webhook.timeoutMs && `${webhook.timeoutMs} ms`],
            ['Attempts', webhook.retry?.maxAttempts],
            ['Delays', webhook.retry?.delaysSeconds?.map((delay) => `${delay} s`).join(', ')],
            [
              'Rate limit',
              webhook.rateLimit &&
                `${webhook.rateLimit.limit} in ${webhook.rateLimit.perSeconds} s`,
            ],
            ['At a time', webhook.maxInFlight],
            ['In order', webhook.ordered ? 'yes' : 'no'],
            ['Transform', webhook.transform],
            ['Fields', webhook.fields && (webhook.fields.join(', ') || 'none of the payload')],
            [
              'Description',
              webhook.description && <Outside text={webhook.description} most={1000} />,
            ],
          ]}
        />
        {filter && (
          <>
            <h3 class="part">Filter</h3>
            <Json value={filter} what="filter" />
          </>
        )}
        {metadata && (
          <>
            <h3 class="part">Metadata</h3>
            <Json value={metadata} what="metadata" />
          </>
        )}
        {webhook.publicKey !== undefined && (
          <>
            <h3 class="part">Public key</h3>
            <Secret text={webhook.publicKey} what="public key" />
          </>
        )}
        {may('webhooks:write') && (
          <>
            <h3 class="part">Secret</h3>
            <SigningSecret id={id} />
          </>
        )}
      </Panel>
    </>
  )
}

/** The secret is loaded only when it is to be shown. */
export function SigningSecret({ id }: { id: string }) {
  const [asked, setAsked] = useState(false)
  const { data, problem, loading, reload } = useCall('webhooks.secrets', asked ? { id } : null)
  return (
    <>
      {data ? (
        <Secret text={data.secret} what="secret" />
      ) : (
        <Button busy={loading} onClick={() => (asked ? reload() : setAsked(true))}>
          Show the signing secret
        </Button>
      )}
      {problem && <ProblemNote problem={problem} />}
    </>
  )
}
