/** Sources for many senders of webhooks: `inbound: { github: providers.github({ path, secretName }) }`. */
import { InvalidOption } from '@svc/core'
import { isString, resolveOptions } from '@svc/core/internal'
import {
  rememberedSeconds,
  replyOf,
  rowOf,
  rulesOf,
  sentOf,
  stageOf,
  vainOption,
  type Need,
  type NeedValue,
  type Preset,
  type Respond as RespondOfRow,
} from '@svc/providers/internal'
import {
  listProviders,
  presets,
  type ListedProvider,
  type ProviderId,
} from '@svc/providers/presets'
import { SecretMissing } from './errors.ts'
import { saying, type InboundRequest, type InboundSource, type Respond } from './source.ts'
import { namesOf, SECRET_NAME, verifyBy, type SecretName } from './verify.ts'

export type { ProviderId } from '@svc/providers/presets'
export type { SecretName } from './verify.ts'

/**
 * Keeps the secret that a provider sends with its first request, which is not signed: anyone may
 * send it. `false` refuses it, for instance where no webhook is being set up.
 */
export type OnHandshake = (
  secret: string,
  request: InboundRequest,
) => boolean | void | Promise<boolean | void>

/** What the docs and tools show of a preset. */
export type Provider = Omit<ListedProvider, 'checkedOn' | 'source'>

type Overridden = Omit<InboundSource, 'path'>

/** Fields of the source that a host sets itself instead of the preset. */
export type Overrides = { [Name in keyof Overridden]?: Overridden[Name] | undefined }

/** The options of every preset. */
export interface CommonOptions extends Overrides {
  /** URL path that receives the provider's requests. */
  path: string
  /**
   * How far a timestamp may be from now, in seconds, both ways. @default the tolerance of the
   * provider
   */
  toleranceSeconds?: number | undefined
  /** Keeps the secret that the provider sends with its first request, unsigned. */
  onHandshake?: OnHandshake | undefined
}

type Presets = typeof presets
type NeedsOf<Row> = Row extends { needs: readonly (infer Name extends Need)[] } ? Name : never
type MayNeedOf<Row> = Row extends { mayNeed: readonly (infer Name extends Need)[] } ? Name : never
type SecretOf<Row> = Row extends { secret: null } ? object : { secretName: SecretName }

/** The options of one preset: those that all have, and what the provider needs besides. */
export type ProviderOptions<Id extends ProviderId> = CommonOptions &
  SecretOf<Presets[Id]> & { [Name in NeedsOf<Presets[Id]>]: NeedValue<Name> } & {
    [Name in MayNeedOf<Presets[Id]>]?: NeedValue<Name> | undefined
  }

/** A function for each preset: it takes the options of its provider and makes a source. */
export type Providers = {
  [Id in ProviderId]: (options: ProviderOptions<Id>) => InboundSource
} & {
  /** All presets, by their ids. */
  list: () => Provider[]
}

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
    (Object.entries(presets) as [ProviderId, Preset][]).map(([id, preset]) => [
      id,
      (options: unknown) => sourceOf(id, preset, options),
    ]),
  ),
  list: () => listProviders().map(({ checkedOn: _, source: __, ...shown }) => shown),
}) as Providers

type Settled = CommonOptions & { secretName?: SecretName } & { [Name in Need]?: NeedValue<Name> }

/**
 * Makes a source of a row and the options of a host.
 *
 * @throws InvalidOption naming the provider and the option
 * @throws TypeError for a row that could be read in two ways
 */
export function sourceOf(id: string, preset: Preset, given: unknown): InboundSource {
  const options = settled(id, preset, given)
  const { path, secretName = null, toleranceSeconds } = options
  const row = rowOf(id, preset, options)
  const remembered = rememberedSeconds(preset, toleranceSeconds)
  const name = (request: InboundRequest, body: string, item?: unknown) =>
    row.nameOf(sentOf(request, body), item)
  const key = (request: InboundRequest, body: string, item?: unknown) =>
    row.keyOf(sentOf(request, body), item)
  const { unverified, verified } = row.respond
  const answering = (respond: RespondOfRow) => answerBy(respond, row.readingOf, options)
  const made: InboundSource = {
    path,
    publishAs: saying(name, { shows: row.nameHeaders }),
    verify: verifyBy(row, secretName, { row: preset, options: { ...options } }),
    ...(preset.deduplicate && { deduplicationKey: saying(key, { shows: row.keyHeaders }) }),
    ...(remembered !== undefined && { deduplicationTtlSeconds: remembered }),
    ...(row.itemsOf && { split: row.itemsOf }),
    readAs: (request, body) => row.payloadOf(sentOf(request, body)),
    ...(verified && { respond: answering(verified) }),
    ...(unverified && { respondUnverified: answering(unverified) }),
    ...(preset.emptyErrors && { emptyErrors: true }),
    // An answer to an event holds fixed text alone.
    ...(preset.answer && { answer: replyOf(preset.answer)({} as never) ?? {} }),
  }
  const overridden = OVERRIDES.filter((field) => options[field] !== undefined)
  return { ...made, ...Object.fromEntries(overridden.map((field) => [field, options[field]])) }
}

/** The handshakes of a row, with the secrets of the host. */
function answerBy(
  respond: RespondOfRow,
  readingOf: ReturnType<typeof rowOf>['readingOf'],
  { secretName, verifyTokenSecretName = '', onHandshake }: Settled,
): Respond {
  return async (request, body, secret, client) =>
    respond(readingOf(sentOf(request, body)), {
      secret: () => {
        const names = secretName === undefined ? [] : namesOf(secretName, request)
        return names.map((name) => secret(name)).find((value) => value !== null) ?? undefined
      },
      verifyToken: () => {
        const token = secret(verifyTokenSecretName)
        if (token === null) throw new SecretMissing(verifyTokenSecretName)
        return token
      },
      store: onHandshake && ((value) => onHandshake(value, request)),
      client,
    })
}

const OVERRIDES = [
  'publishAs',
  'verify',
  'deduplicationKey',
  'deduplicationTtlSeconds',
  'split',
  'tenant',
  'readAs',
  'respond',
  'respondUnverified',
  'answer',
  'emptyErrors',
] as const satisfies readonly (keyof Overrides)[]

/** @throws InvalidOption, also for an option without effect: the host relies on it */
function settled(id: string, preset: Preset, given: unknown): Settled {
  // Their values are checked where the source is: see sources.ts.
  const any = { expects: 'a field of a source', is: () => true }
  const options = resolveOptions<Settled>(
    `providers.${id}`,
    {
      path: { expects: 'a URL path such as "/hooks/github"', is: isString, required: true },
      ...(preset.secret !== null && { secretName: SECRET_NAME }),
      ...rulesOf(preset, VERIFY_TOKEN),
      ...Object.fromEntries(OVERRIDES.map((name) => [name, any])),
    },
    given,
  )
  const vain = vainOption(preset, options) ?? replacedOption(preset, options)
  if (!vain) return options
  throw new InvalidOption(
    `providers.${id}: the option "${vain.option}" has no effect, as ${vain.why}: leave it out`,
  )
}

const VERIFY_TOKEN = { verifyTokenSecretName: { expects: 'the name of a secret', is: isString } }

/** An option for what a function of the host replaces. */
function replacedOption({ handshakes = [] }: Preset, options: Settled) {
  if (options.toleranceSeconds !== undefined && options.verify !== undefined) {
    const why = 'it is for the verification that "verify" replaces'
    return { option: 'toleranceSeconds', why }
  }
  const storing = handshakes.find(({ store }) => store !== undefined)
  if (options.onHandshake === undefined || !storing) return undefined
  const answerer = stageOf(storing) === 'unverified' ? 'respondUnverified' : 'respond'
  if (options[answerer] === undefined) return undefined
  return {
    option: 'onHandshake',
    why: `it is for the handshake that your "${answerer}" answers`,
  }
}
