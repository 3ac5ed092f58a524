import { ActionTaken, ActionUnknown, InvalidAction } from '../errors.ts'
import { asUnavailable } from '../postgres/unavailable.ts'
import { isFunction, kindOf } from '../options/check-options.ts'
import type { SvcActions } from './svc-actions.ts'

type Handler<Name extends keyof SvcActions> = SvcActions[Name] extends (
  ...args: infer Args
) => infer Result
  ? (...args: Args) => Result
  : never

/**
 * `fastify.svc.actions`: the operations of this process by their names, typed by {@link SvcActions}.
 *
 * @example
 * app.svc.actions.register('orders.create', async (item) => insertOrder(item))
 * const order = await app.svc.actions.call('orders.create', 'book')
 */
export interface Actions {
  /**
   * Calls an operation in this process. Rejects with the same errors as the operation's route, and
   * with ActionUnknown.
   */
  call: <Name extends keyof SvcActions>(
    name: Name,
    ...args: Parameters<Handler<Name>>
  ) => ReturnType<Handler<Name>>
  /** @throws ActionTaken, InvalidAction */
  register: <Name extends keyof SvcActions>(name: Name, handler: Handler<Name>) => void
  names: () => string[]
}

export function createActions(): Actions {
  const handlers = new Map<string, (...args: never) => unknown>()
  return {
    call(name, ...args) {
      const handler = handlers.get(name)
      if (handler) return typed(handler(...(args as never))) as never
      const known = [...handlers.keys()].join(', ') || 'none'
      // The caller awaits a promise and would not catch an error that is thrown synchronously.
      return Promise.reject(new ActionUnknown(String(name), known)) as never
    },
    register(name, handler) {
      if (handlers.has(name)) throw new ActionTaken(String(name))
      if (typeof name !== 'string' || !isFunction(handler)) {
        throw new InvalidAction(kindOf(name), kindOf(handler))
      }
      handlers.set(name, handler)
    },
    names: () => [...handlers.keys()],
  }
}

/** An action rejects with what its route would answer, also while the database is unavailable. */
function typed(result: unknown): unknown {
  if (!(result instanceof Promise)) return result
  return result.catch((error: unknown) => {
    throw asUnavailable(error)
  })
}
