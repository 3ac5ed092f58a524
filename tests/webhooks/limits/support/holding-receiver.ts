/** A receiver that answers when it is told to, and knows what is under way. */
import type { Receiver } from '@svc/testing'
import { openReceiver } from '../../../support/receiver.ts'
import type { Test } from 'tap'

export interface HoldingReceiver extends Receiver {
  /** What answers the requests that have no answer yet, oldest first. */
  held: (() => void)[]
  /** How many there were at a time at most. */
  most: () => number
  /** Answers the oldest. */
  answerOne: () => void
}

export async function startHoldingReceiver(t: Test): Promise<HoldingReceiver> {
  const held: (() => void)[] = []
  let most = 0
  const receiver = await openReceiver(t, {
    answer: () =>
      new Promise((resolve) => {
        held.push(() => resolve(200))
        most = Math.max(most, held.length)
      }),
  })
  return { ...receiver, held, most: () => most, answerOne: () => held.shift()?.() }
}
