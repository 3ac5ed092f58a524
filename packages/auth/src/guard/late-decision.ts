/** What follows a decision of the guard that had to wait for Postgres. */
import type { ErrorText } from '@svc/core/internal'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { PlanUnknown } from '../errors.ts'
import type { RefusalDetails } from './refusal-log.ts'
import { PLAN_UNKNOWN, sendRefusal, UNAVAILABLE, type Refusal } from './refusals.ts'

const RETRY_AFTER_SECONDS = 1

type Refuse = (
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal,
  details: RefusalDetails,
  retryAfterSeconds: number,
) => void

/**
 * Refuses the request if the decision cannot be made, and lets `conclude` refuse it or call `pass`
 * otherwise.
 */
export type Later = <Decision>(
  decision: Promise<Decision>,
  request: FastifyRequest,
  reply: FastifyReply,
  done: () => void,
  conclude: (made: Decision, pass: () => void) => void,
) => void

/**
 * Fastify catches no error of a hook that has waited. This function therefore catches all errors, also
 * those of the rest of the request. An unhandled rejection would end the process.
 */
export function lateDecisions(
  refuse: Refuse,
  { errorText, log }: { errorText: ErrorText | null; log: FastifyBaseLogger },
): Later {
  return (decision, request, reply, done, conclude) => {
    let hasPassed = false
    const pass = (): void => {
      hasPassed = true
      done()
    }
    decision
      .then(
        (made) => conclude(made, pass),
        (error: Error) => {
          const [refusal, verdict] =
            error instanceof PlanUnknown
              ? ([PLAN_UNKNOWN, 'plan unknown'] as const)
              : ([UNAVAILABLE, 'unavailable'] as const)
          const details = { verdict, reason: error.message }
          refuse(request, reply, refusal, details, RETRY_AFTER_SECONDS)
        },
      )
      .catch((err: unknown) => {
        const about = { err, reqId: request.id }
        // The same as Fastify does where the guard has decided at once.
        if (hasPassed && !reply.sent) reply.send(err)
        else if (hasPassed) log.error(about, 'a request threw an error after it was answered')
        else {
          if (!reply.sent) sendRefusal(reply, UNAVAILABLE, errorText, RETRY_AFTER_SECONDS)
          log.error(about, 'the guard threw an error; the request was refused')
        }
      })
      // Neither an answer nor a log was possible.
      .catch(() => reply.raw.destroy())
  }
}
