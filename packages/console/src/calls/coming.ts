/** Operations that `@svc/webhooks` and `@svc/core` are about to have. */
import type { QueuedDelivery } from '@svc/webhooks'
import type { Health, RecoverInput, Stats, StatsQuery } from '../contract.ts'
import { UnknownOperation } from '../errors.ts'
import type { By } from './call.ts'

interface Coming {
  redeliver: (input: { webhookId: string; deliveryId: string }) => Promise<QueuedDelivery>
  recover: (input: RecoverInput) => Promise<{ deliveries: number }>
  stats: (query: StatsQuery) => Promise<Stats>
}

export const coming = (webhooks: By['webhooks']): Coming =>
  new Proxy(webhooks as unknown as Coming, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name)
      if (found === undefined) throw new UnknownOperation(String(name))
      return found
    },
  })

export async function healthOf({ svc }: By['core']): Promise<Health> {
  const { health } = svc as { health?: () => Promise<Health> }
  if (health === undefined) throw new UnknownOperation('health.get')
  return await health()
}
