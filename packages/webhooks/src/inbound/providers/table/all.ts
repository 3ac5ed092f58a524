/** Every preset, by its id: the name that `providers` has it under and that its events begin with. */
import { code } from './code.ts'
import { commerce } from './commerce.ts'
import { messages } from './messages.ts'
import { standardWebhooksSenders } from './standard-webhooks.ts'

export const presets = {
  ...standardWebhooksSenders,
  ...code,
  ...commerce,
  ...messages,
} as const

/** The names of the presets. */
export type ProviderId = keyof typeof presets
