/** A webhook whose receiver is down for a while, and the recoveries of what it has not got. */
import type { ReceivedRequest, Receiver } from '@svc/testing'
import { openReceiver } from '../../support/receiver.ts'
import type { WebhookRecovery } from '@svc/webhooks'
import type { Test } from 'tap'
import { until, untilCount } from '../../support/until.ts'
import { startHost, type Host } from './host.ts'

export const since = '2020-01-01T00:00:00Z'

interface BrokenWebhook {
  host: Host
  id: string
  receiver: Receiver
  repair: () => void
}

/** Its receiver answers 500 until it is repaired. */
export async function brokenWebhook(
  t: Test,
  maxAttempts: number,
  retryDelaySeconds: number,
): Promise<BrokenWebhook> {
  const host = await startHost(t, { core: { worker: { maxAttempts, retryDelaySeconds } } })
  const receiver = await openReceiver(t, { answer: 500 })
  const { id } = await host.register(receiver.url)
  return {
    host,
    id,
    receiver,
    repair: () => receiver.answer(200),
  }
}

export async function deadLettersOf(host: Host, id: string, count: number): Promise<void> {
  await untilCount(count, () => host.app.svc.webhooks.listDeadLetters(id))
}

export const idOf = ({ headers }: ReceivedRequest): string => String(headers['x-svc-delivery-id'])

export const finished = (host: Pick<Host, 'ask'>, id: string): Promise<WebhookRecovery[]> =>
  until(
    async (): Promise<WebhookRecovery[]> => (await host.ask('GET', `/${id}/recoveries`)).body,
    (recoveries) => recoveries.length > 0 && recoveries.every((one) => one.finishedAt !== null),
  )
