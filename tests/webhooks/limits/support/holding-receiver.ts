/** A receiver that answers when it is told to, and knows what is under way. */
import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { startReceiver, type Receiver } from '../../support/receiver.ts'

export interface HoldingReceiver extends Receiver {
  /** Requests that have no answer yet, of senders that wait for it. */
  held: ServerResponse[]
  /** How many there were at a time at most. */
  most: () => number
  /** Answers the oldest. */
  answerOne: () => void
}

export async function startHoldingReceiver(t: Test): Promise<HoldingReceiver> {
  const held: ServerResponse[] = []
  let most = 0
  const receiver = await startReceiver(t, (_request, reply) => {
    held.push(reply)
    most = Math.max(most, held.length)
    reply.once('close', () => {
      const place = held.indexOf(reply)
      if (place >= 0) held.splice(place, 1)
    })
  })
  return {
    ...receiver,
    held,
    most: () => most,
    answerOne: () => void held.shift()?.writeHead(200).end(),
  }
}
