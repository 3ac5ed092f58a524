import { ActionTaken, ActionUnknown } from './errors.ts'
import type { SvcActions } from './svc-actions.ts'

type Handler<Name extends keyof SvcActions> = SvcActions[Name] extends (
  ...args: infer Args
) => infer Result
  ? (...args: Args) => Result
  : never

export interface Actions {
  /**
   * Calls an operation in this process. Rejects with the same errors as the operation's route.
   * @throws ActionUnknown
   */
  call<Name extends keyof SvcActions>(
    name: Name,
    ...args: Parameters<Handler<Name>>
  ): ReturnType<Handler<Name>>
  /** @throws ActionTaken */
  register<Name extends keyof SvcActions>(name: Name, handler: Handler<Name>): void
  names(): string[]
}

export function makeActions(): Actions {
  const handlers = new Map<string, (...args: never) => unknown>()
  return {
    call(name, ...args) {
      const handler = handlers.get(name)
      if (!handler) throw new ActionUnknown(String(name), [...handlers.keys()].join(', ') || 'none')
      return handler(...(args as never)) as never
    },
    register(name, handler) {
      if (handlers.has(name)) throw new ActionTaken(String(name))
      handlers.set(name, handler)
    },
    names: () => [...handlers.keys()],
  }
}
