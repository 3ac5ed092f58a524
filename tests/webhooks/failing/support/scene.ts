import { openReceiver } from '../../../support/receiver.ts'
import type { Test } from 'tap'
import { startHost, type Host, type HostOptions } from '../../support/host.ts'

const NAMES = ['svc.webhook.failing', 'svc.webhook.disabled', 'svc.webhook.recovered']

/** Whether no delivery of the webhook is under way, a probe included. */
export async function isIdle({ app }: Pick<Host, 'app'>, id: string): Promise<boolean> {
  const { rowCount } = await app.svc.database.query(
    `select from svc_jobs.job where group_id = $1 and state = 'active'`,
    [id],
  )
  return rowCount === 0
}

/** A host that hears what is told of webhooks, and a receiver with a status of its own. */
export async function scene(t: Test, options: HostOptions) {
  const host = await startHost(t, { core: { worker: { maxAttempts: 1000 } }, ...options })
  // oxlint-disable-next-line typescript/no-explicit-any -- a payload as it came
  const heard: { name: string; payload: any }[] = []
  for (const name of NAMES) {
    await host.app.svc.events.subscribe(name, (payload) => {
      heard.push({ name, payload })
    })
  }
  const receiver = await openReceiver(t, { answer: 500 })
  const webhook = await host.register(receiver.url)
  const shown = async () => (await host.ask('GET', `/${webhook.id}`)).body
  const isDisabled = async () => (await shown()).active === false
  return {
    ...host,
    heard,
    receiver,
    id: webhook.id,
    shown,
    isDisabled,
    /** It is disabled, and the attempts have ended that began before that. */
    hasStopped: async () => (await isDisabled()) && (await isIdle(host, webhook.id)),
  }
}
