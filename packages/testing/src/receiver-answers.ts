/** How a receiver of a test answers. */
import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { InvalidOption } from '@svc/core'
import {
  isIntegerFrom,
  isPlainObject,
  kindOf,
  resolveOptions,
  type OptionRules,
} from '@svc/core/internal'
import type { ReceivedRequest } from './received-request.ts'

interface Reply {
  /** @default 200 */
  status: number
  headers: Record<string, string>
  body: string
  /** How long the answer is held back. @default 0 */
  delayMs: number
}

type PartOfReply = { [Name in keyof Reply]?: Reply[Name] | undefined }

/**
 * A status, or more of the answer. `'timeout'` never answers, and `'reset'` closes the connection:
 * the attempt fails with the `error` of that name.
 */
export type ReceiverAnswer = number | PartOfReply | 'timeout' | 'reset'

type Answer =
  | ReceiverAnswer
  | ((request: ReceivedRequest) => ReceiverAnswer | Promise<ReceiverAnswer>)

/** The answer to all requests, or a function. Of a list each answers one, and the last all further. */
export type ReceiverAnswers = Answer | readonly Answer[]

type Checked = Reply | 'timeout' | 'reset'

/** The function that decides each answer in turn. @throws InvalidOption */
export function answersInTurn(
  answers: ReceiverAnswers,
): (request: ReceivedRequest) => Promise<Checked> {
  const left: Answer[] = [answers].flat()
  if (left.length === 0) throw new InvalidOption('receiver: the list of answers is empty')
  for (const answer of left) if (typeof answer !== 'function') checked(answer)
  return async (request) => {
    const answer = left.length > 1 ? left.shift() : left[0]
    return checked(typeof answer === 'function' ? await answer(request) : answer)
  }
}

const RULES = {
  status: { expects: 'a status from 200 to 599', is: isIntegerFrom(200, 599), default: 200 },
  headers: { expects: 'an object of texts', is: isPlainObject, default: {} },
  body: {
    expects: 'a text (JSON.stringify makes one of an object)',
    is: (value) => typeof value === 'string',
    default: '',
  },
  delayMs: { expects: 'a number of milliseconds', is: isIntegerFrom(0), default: 0 },
} satisfies OptionRules

function checked(answer: unknown): Checked {
  if (answer === 'timeout' || answer === 'reset') return answer
  const reply = typeof answer === 'number' ? { status: answer } : answer
  if (isPlainObject(reply)) return resolveOptions('an answer of a receiver', RULES, reply)
  throw new InvalidOption(
    `an answer of a receiver is a status, { status, headers, body, delayMs }, 'timeout' or 'reset', got ${kindOf(answer)}`,
  )
}

export async function write(response: ServerResponse, answer: Checked): Promise<void> {
  if (answer === 'timeout') return
  if (answer === 'reset') {
    // With a byte of an answer: without one, a request on a connection that was kept is sent again.
    response.socket?.write('H', () => response.destroy())
    return
  }
  const { status, headers, body, delayMs } = answer
  // A process is not kept running for an answer that comes after its tests.
  if (delayMs > 0) await pause(delayMs, undefined, { ref: false })
  response.writeHead(status, headers).end(body)
}
