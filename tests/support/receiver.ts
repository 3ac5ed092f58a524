import { receiver, type Receiver, type ReceiverOptions } from '@svc/testing'
import type { Test } from 'tap'

/** A receiver of the testing kit that closes when the test ends. */
export async function openReceiver(t: Test, options?: ReceiverOptions): Promise<Receiver> {
  const opened = await receiver(options)
  t.teardown(() => opened.close())
  return opened
}
