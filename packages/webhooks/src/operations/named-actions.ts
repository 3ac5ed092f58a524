/** The operations as named actions: `app.svc.actions.call('__svc.webhooks.register', …)`. */
import type { Svc } from '@svc/core'
import type { SvcWebhooks } from './svc-webhooks.ts'

declare module '@svc/core' {
  interface SvcActions {
    '__svc.webhooks.register': SvcWebhooks['register']
    '__svc.webhooks.list': SvcWebhooks['list']
    '__svc.webhooks.count': SvcWebhooks['count']
    '__svc.webhooks.countDeadLetters': SvcWebhooks['countDeadLetters']
    '__svc.webhooks.get': SvcWebhooks['get']
    '__svc.webhooks.update': SvcWebhooks['update']
    '__svc.webhooks.delete': SvcWebhooks['delete']
    '__svc.webhooks.rotateSecret': SvcWebhooks['rotateSecret']
    '__svc.webhooks.test': SvcWebhooks['test']
    '__svc.webhooks.listEvents': SvcWebhooks['listEvents']
    '__svc.webhooks.tryFilter': SvcWebhooks['tryFilter']
    '__svc.webhooks.listTenants': SvcWebhooks['listTenants']
    '__svc.webhooks.deliver': SvcWebhooks['deliver']
    '__svc.webhooks.listDeliveries': SvcWebhooks['listDeliveries']
    '__svc.webhooks.redeliver': SvcWebhooks['redeliver']
    '__svc.webhooks.listDeadLetters': SvcWebhooks['listDeadLetters']
    '__svc.webhooks.redrive': SvcWebhooks['redrive']
    '__svc.webhooks.recover': SvcWebhooks['recover']
    '__svc.webhooks.listRecoveries': SvcWebhooks['listRecoveries']
    '__svc.webhooks.getRecovery': SvcWebhooks['getRecovery']
    '__svc.webhooks.stats': SvcWebhooks['stats']
    '__svc.webhooks.listInbound': SvcWebhooks['listInbound']
    '__svc.webhooks.replayInbound': SvcWebhooks['replayInbound']
  }
}

/** The actions are the methods of `svc.webhooks` themselves. */
export function registerActions(
  { actions }: Svc,
  { as: _, ...operations }: Readonly<SvcWebhooks>,
): void {
  for (const method of Object.keys(operations) as (keyof typeof operations)[]) {
    actions.register(`__svc.webhooks.${method}`, operations[method])
  }
}
