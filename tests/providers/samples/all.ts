/** The samples of every preset, by its id. */
import type { ProviderId } from '../../../packages/providers/src/presets/all.ts'
import { bankingSamples } from './banking.ts'
import { buildsSamples } from './builds.ts'
import { checkoutsSamples } from './checkouts.ts'
import { codeSamples } from './code.ts'
import { commerceSamples } from './commerce.ts'
import { contentSamples } from './content.ts'
import { customersSamples } from './customers.ts'
import { documentsSamples } from './documents.ts'
import { identitySamples } from './identity.ts'
import { mailSamples } from './mail.ts'
import { messagesSamples } from './messages.ts'
import { modelsSamples } from './models.ts'
import { paymentsSamples } from './payments.ts'
import { relaysSamples } from './relays.ts'
import type { Sample } from './sample.ts'
import { standardWebhooksSamples } from './standard-webhooks.ts'
import { telephonySamples } from './telephony.ts'
import { workSamples } from './work.ts'

export const samples: Readonly<Record<ProviderId, readonly Sample[]>> = {
  ...standardWebhooksSamples,
  ...codeSamples,
  ...buildsSamples,
  ...paymentsSamples,
  ...checkoutsSamples,
  ...bankingSamples,
  ...commerceSamples,
  ...messagesSamples,
  ...telephonySamples,
  ...mailSamples,
  ...workSamples,
  ...customersSamples,
  ...documentsSamples,
  ...identitySamples,
  ...contentSamples,
  ...modelsSamples,
  ...relaysSamples,
}
