import type { TSchema, Static } from '@sinclair/typebox'
import type { SvcActions } from './svc-actions.ts'
import type { Svc } from '../svc.ts'
import { checkedInput } from './validate-input.ts'

/**
 * Registers an operation whose one argument is checked against the schema of its route.
 * The call rejects with InvalidInput where the route would answer 400.
 */
export function defineAction<Name extends keyof SvcActions, Schema extends TSchema>(
  svc: Svc,
  name: Name,
  schema: Schema,
  perform: (input: Static<Schema>) => unknown,
): void {
  const checked = checkedInput(schema)
  const handler = async (input: unknown) => perform(checked(input))
  svc.actions.register(name, handler as never)
}
