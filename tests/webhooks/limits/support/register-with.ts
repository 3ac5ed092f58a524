import type { WebhookWithSecret } from '@svc/webhooks'
import type { Host } from '../../support/host.ts'

/** Registers a webhook for all events, with settings. */
export async function registerWith(
  { ask }: Host,
  url: string,
  settings: object,
): Promise<WebhookWithSecret> {
  const { status, body } = await ask('POST', '', { url, events: ['*'], ...settings })
  if (status !== 201) throw new Error(`status ${status}: ${JSON.stringify(body)}`)
  return body
}
