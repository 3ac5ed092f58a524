/** What an operator with `admin` does with the whole host: pauses, and the dead letters of its own handlers. */
import type {
  HandlerDeadLetter,
  HandlerPause,
  HandlerRedrive,
  ListedHandlerDeadLetters,
  PauseAllInput,
  ResumeAllInput,
} from '@svc/webhooks'
import { isAdmin, type Identity } from '../access/identity.ts'
import { Forbidden } from '../errors.ts'
import { Anything, callsOf, Id, List, pageOf } from './call.ts'

const { reads, changes } = callsOf('webhooks')

/** @throws Forbidden */
function assertAdmin(identity: Identity): void {
  if (!isAdmin(identity)) throw new Forbidden('admin')
}

export const handlerCalls = {
  'pauses.begin': changes(
    'deliveries:write',
    Anything,
    async (input: PauseAllInput, { webhooks, identity }) => {
      assertAdmin(identity)
      return webhooks.pauseAll(input)
    },
  ),
  'pauses.end': changes(
    'deliveries:write',
    Anything,
    async (input: ResumeAllInput, { webhooks, identity }) => {
      assertAdmin(identity)
      return webhooks.resumeAll(input)
    },
  ),
  'handlers.pause': changes(
    'deliveries:write',
    Anything,
    async (input: HandlerPause, { webhooks, identity }) => {
      assertAdmin(identity)
      return webhooks.pauseHandler(input)
    },
  ),
  'handlers.resume': changes(
    'deliveries:write',
    Anything,
    async (input: { subscription: string }, { webhooks, identity }) => {
      assertAdmin(identity)
      return webhooks.resumeHandler(input)
    },
  ),
  'handlers.list': reads(
    'health:read',
    List,
    async (input: ListedHandlerDeadLetters, { webhooks, identity, masks }) => {
      assertAdmin(identity)
      // An error may repeat what is masked in the payload.
      const shown = ({ payload: _, error, ...letter }: HandlerDeadLetter) => ({
        ...letter,
        error: masks.areOn ? null : error,
      })
      return pageOf(input, (page) => webhooks.listHandlerDeadLetters(page), shown)
    },
  ),
  'handlers.redrive': changes(
    'deliveries:write',
    Anything,
    async (input: HandlerRedrive, { webhooks, identity }) => {
      assertAdmin(identity)
      return webhooks.redriveHandler(input)
    },
  ),
  'handlers.delete': changes('deliveries:write', Id, async ({ id }: Id, { webhooks, identity }) => {
    assertAdmin(identity)
    await webhooks.deleteHandlerDeadLetter(id)
    return {}
  }),
}
