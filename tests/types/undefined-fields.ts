/**
 * A host with `exactOptionalPropertyTypes` passes on what its own input lacks: each field that may be left
 * out may be `undefined` too, in all that the packages take.
 */
import type {
  EntryOptions,
  EventDefinitions,
  OnBehalfOf,
  OperationOptions,
  PublishOptions,
  SubscribeOptions,
  Svc,
  SvcCoreOptions,
} from '@svc/core'
import type { drain, DrainOptions, receiver, signed, SignedOptions } from '@svc/testing'
import type {
  ActingFor as ActingForAuth,
  ApiKey,
  AuthOperations,
  NewApiKey,
  SvcAuthOptions,
} from '@svc/auth'
import type { Access, SvcConsole, SvcConsoleOptions } from '@svc/console'
import type { verifyDelivery } from '@svc/receiver'
import type {
  ActingFor,
  BasicAuthOptions,
  BearerTokenOptions,
  HeaderTokenOptions,
  HmacOptions,
  InboundSource,
  NewWebhook,
  SvcWebhooks,
  SvcWebhooksOptions,
  Transformed,
} from '@svc/webhooks'
import type { ProviderOptions } from '@svc/webhooks/providers'

type AnyFunction = (...given: never[]) => unknown

/** The names of the fields, at any depth, that may be left out and not be `undefined`. */
type Refused<Type> = Type extends AnyFunction | string | number | boolean
  ? never
  : Type extends readonly (infer Element)[]
    ? Refused<Element>
    : Type extends object
      ? { [Name in keyof Type]-?: RefusedAt<Type, Name> }[keyof Type]
      : never

type RefusedAt<Type, Name extends keyof Type> = string extends Name
  ? never
  :
      | (object extends Pick<Type, Name>
          ? Record<Name, undefined> extends Pick<Type, Name>
            ? never
            : Name
          : never)
      | Refused<Exclude<Type[Name], undefined>>

/** The same of all parameters of the methods of an interface. */
type RefusedBy<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (...given: infer Given) => unknown
    ? Refused<Given[number]>
    : never
}[keyof Methods]

type None<Names extends never> = Names

export type OfCore = [
  // The pool is that of another library.
  None<Refused<Omit<SvcCoreOptions, 'database'>>>,
  None<Refused<EventDefinitions[string]>>,
  None<Refused<PublishOptions | SubscribeOptions | OperationOptions | EntryOptions | OnBehalfOf>>,
  None<RefusedBy<Svc['events']>>,
  None<RefusedBy<Svc['kv']>>,
  None<RefusedBy<Svc['audit']>>,
  None<Refused<Parameters<Svc['transaction']>[1]>>,
  None<Refused<DrainOptions | SignedOptions>>,
  None<Refused<Parameters<typeof drain>[1]>>,
  None<Refused<Parameters<typeof signed>[2]>>,
  None<Refused<Parameters<typeof receiver>[0]>>,
]

export type OfAuth = [
  None<Refused<SvcAuthOptions>>,
  None<Refused<NewApiKey | ActingForAuth>>,
  None<RefusedBy<AuthOperations>>,
]

export type OfWebhooks = [
  None<Refused<SvcWebhooksOptions>>,
  None<Refused<InboundSource | Transformed>>,
  None<Refused<HmacOptions | BearerTokenOptions | BasicAuthOptions | HeaderTokenOptions>>,
  None<Refused<ProviderOptions<'github'> | ProviderOptions<'twilio'> | ProviderOptions<'paypal'>>>,
  None<Refused<NewWebhook | ActingFor>>,
  None<RefusedBy<SvcWebhooks>>,
  None<Refused<Omit<Parameters<typeof verifyDelivery>[0], 'headers' | 'body'>>>,
]

export type OfConsole = [
  None<Refused<SvcConsoleOptions>>,
  None<Refused<Access>>,
  None<RefusedBy<SvcConsole>>,
]

// @ts-expect-error -- a field that refuses `undefined` is found, at any depth
export type Found = None<Refused<{ list: { name?: string }[] }>>

/** What a host writes. */
export async function callsOf(svc: Svc, label: string | undefined): Promise<ApiKey['label']> {
  const url = 'https://receiver.example/'
  await svc.webhooks.register({ url, events: '*', label, retry: { maxAttempts: undefined } })
  await svc.events.publish('order.created', {}, { id: label, tenant: undefined })
  const { id } = await svc.auth.createApiKey({ userId: 'u', label, expiresAt: undefined })
  const [key] = await svc.auth.listApiKeys({ userId: undefined, limit: 1 })
  return key?.label ?? id
}
