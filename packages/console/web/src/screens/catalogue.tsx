import type { EventDescription } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { useCatalogue } from '../state/names.ts'
import { href } from '../state/router.ts'
import { ButtonLink, Link } from '../ui/button.tsx'
import { Json } from '../ui/code.tsx'
import { Badge } from '../ui/facts.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Answered, Empty } from '../ui/notes.tsx'

export function CatalogueScreen() {
  const { session } = useSession()
  return (
    <Screen title="Catalogue" about="The events that a webhook may ask for, and what they carry.">
      <Answered of={useCatalogue()}>
        {({ items }) =>
          items.length > 0 ? (
            items.map((event) => <CatalogueEntry key={event.name} event={event} />)
          ) : (
            <Panel>
              <Empty title="No events are allowed">
                {session.operator ? (
                  <>
                    The option <code>allowedEvents</code> of <code>svcWebhooks</code> names them.
                  </>
                ) : (
                  'They appear here as soon as there are some.'
                )}
              </Empty>
            </Panel>
          )
        }
      </Answered>
    </Screen>
  )
}

function CatalogueEntry({
  event: { name, description, schema, example, deprecated },
}: {
  event: EventDescription
}) {
  const { may } = useSession()
  return (
    <Panel
      title={
        <>
          <bdi class="mono">{name}</bdi> {deprecated && <Badge tone="warn">Deprecated</Badge>}
        </>
      }
      actions={
        may('webhooks:write') &&
        !deprecated && (
          <ButtonLink to={href('webhooks/new', { event: name })} kind="quiet" icon="plus">
            Webhook for it
          </ButtonLink>
        )
      }
    >
      <div class="columns">
        <div>
          <p>{description ?? <span class="faint">It has no description.</span>}</p>
          {may('deliveries:read') && (
            <p class="after-text">
              <Link to={href('deliveries', { event: name })}>
                Deliveries <span class="unseen">{`of ${name}`}</span>
              </Link>
            </p>
          )}
          {schema !== null && (
            <details>
              <summary>Schema</summary>
              <Json value={schema} what={`schema of ${name}`} />
            </details>
          )}
        </div>
        {example === null ? (
          <p class="faint">It has no example.</p>
        ) : (
          <Json value={example} what={`example of ${name}`} />
        )}
      </div>
    </Panel>
  )
}
