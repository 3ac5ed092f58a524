/** How the deliveries of a webhook are signed: for whoever writes its receiver. */
import { shapeOf, type Core } from '@svc/core/internal'
import { WebhookId } from '../schema-pieces.ts'
import type { DeliverySigning } from '../schemas.ts'
import type { AttemptSettings } from '../outbound/delivery/attempt.ts'
import { NO_TRANSFORM } from '../outbound/transforms/transform.ts'
import { findWebhook } from '../tables/webhooks.ts'
import { operation } from './caller.ts'
import { existing, webhookIdOf } from './webhooks.ts'

export function signingOperation(
  core: Pick<Core, 'readDb'>,
  { headerNames, standardWebhooks, transforms, defaultTransform, signingKeys }: AttemptSettings,
) {
  return operation({
    input: WebhookId,
    output: shapeOf<DeliverySigning>(),
    async run(by, given) {
      const id = webhookIdOf(given)
      const webhook = existing(id, await findWebhook(core.readDb, id, by.reach))
      const named = webhook.transform ?? defaultTransform
      const transform = named === NO_TRANSFORM ? null : named
      const made = transform === null ? undefined : transforms.get(transform)
      return {
        headerPrefix: headerNames.prefix,
        transform,
        ownSignatures: made === undefined || 'ofJson' in made || made.ownSignatures,
        standardWebhooks: standardWebhooks || signingKeys !== null,
        publicKey: signingKeys?.publicKeyOf(id) ?? null,
      }
    },
  })
}
