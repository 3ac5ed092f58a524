/** Sources for many senders of webhooks: `inbound: { github: providers.github({ path, secretName }) }`. */
import type { InboundSource } from '../source.ts'
import type { SecretName } from '../verify/secret-names.ts'
import { schemeOf } from './engine/scheme-words.ts'
import type { Need, Preset } from './preset.ts'
import { sourceOf, type CommonOptions } from './source-of.ts'
import { presets, type ProviderId } from './presets/all.ts'

export type { ProviderId } from './presets/all.ts'
export type { CommonOptions, Overrides } from './source-of.ts'
export type { OnHandshake } from './engine/handshakes.ts'
export type { SecretName } from '../verify/secret-names.ts'

/** What the docs and tools show of a preset. */
export interface Provider {
  /** Its name in `providers`, with which its events begin. */
  id: ProviderId
  name: string
  /** How its requests are verified, for instance `HMAC-SHA-256`. */
  scheme: string
  /** The provider's own page. */
  docs: string
  /** What the preset was checked against. */
  checked: 'vector' | 'sdk' | 'documentation'
}

type Presets = typeof presets
type NeedsOf<Row> = Row extends { needs: readonly (infer Name extends Need)[] } ? Name : never
type MayNeedOf<Row> = Row extends { mayNeed: readonly (infer Name extends Need)[] } ? Name : never
type SecretOf<Row> = Row extends { secret: null } ? object : { secretName: SecretName }

/** The options of one preset: those that all have, and what the provider needs besides. */
export type ProviderOptions<Id extends ProviderId> = CommonOptions &
  SecretOf<Presets[Id]> &
  Record<NeedsOf<Presets[Id]>, string> &
  Partial<Record<MayNeedOf<Presets[Id]>, string | undefined>>

/** A function for each preset: it takes the options of its provider and makes a source. */
export type Providers = {
  [Id in ProviderId]: (options: ProviderOptions<Id>) => InboundSource
} & {
  /** All presets, by their ids. */
  list: () => Provider[]
}

const entries = Object.entries(presets) as [ProviderId, Preset][]

/**
 * Presets of senders: each makes a whole source, with verification, deduplication, handshakes and the
 * names of its events. A field of the source that is given replaces that of the preset.
 *
 * @throws InvalidOption at the call, which is at boot
 * @example
 * inbound: { github: providers.github({ path: '/hooks/github', secretName: 'GITHUB_SECRET' }) }
 */
export const providers: Providers = Object.freeze({
  ...Object.fromEntries(
    entries.map(([id, preset]) => [id, (options: unknown) => sourceOf(id, preset, options)]),
  ),
  list: () =>
    entries
      .map(([id, preset]): Provider => {
        const { name, docs, checked } = preset
        return { id, name, scheme: schemeOf(preset), docs, checked }
      })
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
}) as Providers
