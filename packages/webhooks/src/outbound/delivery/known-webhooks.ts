/**
 * Webhooks that this process has read for a delivery. A publish returns the version of each webhook:
 * its deliveries need not read a webhook that is known in this version.
 */
import type { WebhookForDelivery } from '../../tables/webhooks-for-delivery.ts'
import type { DeliveryJob } from './delivery-job.ts'

interface Known {
  version: string
  webhook: WebhookForDelivery
  readAt: number
}

const MOST = 1000
/** Characters of headers: with these limits all known webhooks take some megabytes. */
const LONGEST_HEADERS = 4096
/**
 * The time from a publish to its delivery in which a change of the webhook is not noticed. A delivery
 * that has waited longer reads the webhook.
 */
export const LONGEST_WAIT_MS = 1000
/** Decrypted secrets are not kept for longer without need. */
export const LONGEST_MS = 60_000

export class KnownWebhooks {
  /** By the id of the webhook; what was read last is last. */
  #known = new Map<string, Known>()

  /** `now` is of the monotonic clock. */
  find(
    { recipientVersion: found, data }: DeliveryJob,
    now: number,
  ): WebhookForDelivery | undefined {
    if (found === undefined || now - found.askedAt > LONGEST_WAIT_MS) return undefined
    const known = this.#known.get(data.recipient)
    if (known?.version !== found.version) return undefined
    return now - known.readAt > LONGEST_MS ? undefined : known.webhook
  }

  /**
   * The webhook was read at `readAt`, after the publish of the job. It may be newer than the version
   * that the publish has found: then the next publish finds another version.
   */
  keep(
    { recipientVersion: found, data }: DeliveryJob,
    webhook: WebhookForDelivery,
    readAt: number,
  ): void {
    if (found === undefined || !mayBeKept(webhook)) return
    this.#known.delete(data.recipient)
    this.#known.set(data.recipient, { version: found.version, webhook, readAt })
    this.#forgetOld(readAt)
  }

  #forgetOld(now: number): void {
    for (const [id, { readAt }] of this.#known) {
      if (this.#known.size <= MOST && now - readAt <= LONGEST_MS) return
      this.#known.delete(id)
    }
  }
}

/** The previous secrets of a webhook expire without a change of its row. */
const mayBeKept = ({ previousSecrets, headers }: WebhookForDelivery): boolean =>
  previousSecrets.length === 0 &&
  (headers === null || JSON.stringify(headers).length <= LONGEST_HEADERS)
