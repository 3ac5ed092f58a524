/** Verifies requests of providers of webhooks: `providers.github({ secret }).verify(request)`. */
import { listProviders, type ListedProvider } from './list.ts'
import type { Need, NeedValue, Preset } from './preset.ts'
import { presets, type ProviderId } from './presets/all.ts'
import { providerOf, type CommonOptions, type Provider, type Secret } from './provider.ts'

export type { ListedProvider } from './list.ts'
export type { ProviderId } from './presets/all.ts'
export type {
  CommonOptions,
  PlainRequest,
  Provider,
  ReceivedRequest,
  Secret,
  SecretText,
  Verification,
} from './provider.ts'

type Presets = typeof presets
/** The secret itself is given, where `@svc/webhooks` takes its name. */
type Renamed<Name> = Name extends 'verifyTokenSecretName' ? 'verifyToken' : Name
type NeedsOf<Row> = Row extends { needs: readonly (infer Name extends Need)[] } ? Name : never
type MayNeedOf<Row> = Row extends { mayNeed: readonly (infer Name extends Need)[] } ? Name : never
type SecretOf<Row> = Row extends { secret: null } ? object : { secret: Secret }

/** The options of one provider: those that all have, and what it needs besides. */
export type ProviderOptions<Id extends ProviderId> = CommonOptions &
  SecretOf<Presets[Id]> & { [Name in NeedsOf<Presets[Id]> as Renamed<Name>]: NeedValue<Name> } & {
    [Name in MayNeedOf<Presets[Id]> as Renamed<Name>]?: NeedValue<Name> | undefined
  }

/** A function for each provider. */
export type Providers = {
  [Id in ProviderId]: (options: ProviderOptions<Id>) => Provider
} & {
  /** All providers, by their ids. */
  list: () => ListedProvider[]
}

/**
 * Senders of webhooks.
 *
 * @throws TypeError at the call, for a wrong option
 * @example
 * const github = providers.github({ secret })
 * const verification = await github.verify(request)
 */
export const providers: Providers = Object.freeze({
  ...Object.fromEntries(
    (Object.entries(presets) as [ProviderId, Preset][]).map(([id, preset]) => [
      id,
      (options: unknown) => providerOf(id, preset, options),
    ]),
  ),
  list: listProviders,
}) as Providers
