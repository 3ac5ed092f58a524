import { useSession } from '../../shell/session.ts'
import { href } from '../../state/router.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Screen } from '../../ui/layout.tsx'
import { Attention } from './attention.tsx'
import { DeliveryCharts, SpanChoice, useStats } from './delivery-charts.tsx'
import { Figures } from './figures.tsx'
import { Traffic } from './traffic.tsx'

export function OverviewScreen() {
  const { session, may } = useSession()
  const { webhooks } = session.features
  const seesDeliveries = webhooks && may('deliveries:read')
  const stats = useStats(seesDeliveries ? {} : null, true)
  return (
    <Screen
      title="Overview"
      actions={
        <>
          {seesDeliveries && <SpanChoice />}
          {webhooks && may('webhooks:write') && (
            <ButtonLink to={href('webhooks/new')} kind="primary" icon="plus">
              New webhook
            </ButtonLink>
          )}
        </>
      }
    >
      {seesDeliveries && <Figures stats={stats} />}
      <Attention>
        {seesDeliveries && <DeliveryCharts stats={stats} hasChoice={false} />}
        <Traffic />
      </Attention>
    </Screen>
  )
}
