/**
 * Every preset, by its id: the name that `providers` has it under and that its
 * events begin with. One word of the provider's is written small (`github`, `hubspot`), several are
 * joined (`coinbaseCommerce`).
 */
import { banking } from './banking.ts'
import { builds } from './builds.ts'
import { code } from './code.ts'
import { commerce } from './commerce.ts'
import { content } from './content.ts'
import { customers } from './customers.ts'
import { documents } from './documents.ts'
import { identity } from './identity.ts'
import { mail } from './mail.ts'
import { messages } from './messages.ts'
import { models } from './models.ts'
import { payments } from './payments.ts'
import { relays } from './relays.ts'
import { standardWebhooksSenders } from './standard-webhooks.ts'
import { telephony } from './telephony.ts'
import { work } from './work.ts'

export const presets = {
  ...standardWebhooksSenders,
  ...code,
  ...builds,
  ...payments,
  ...banking,
  ...commerce,
  ...messages,
  ...telephony,
  ...mail,
  ...work,
  ...customers,
  ...documents,
  ...identity,
  ...content,
  ...models,
  ...relays,
} as const

/** The names of the presets. */
export type ProviderId = keyof typeof presets
