/** The presets that the vectors are for, with what a receiver of each would configure. */
import type { InboundSource, SecretLookup } from '@svc/webhooks'
import { providers, type ProviderId } from '@svc/webhooks/providers'
import { originOf, type Vector } from './vectors.ts'

type Make = (options: object) => InboundSource

export const presetOf = ({ provider }: Vector): Make => providers[provider as ProviderId] as never

/** A value for each option that a preset may ask for. */
const VALID = {
  publicOrigin: 'https://example.com',
  webhookId: 'webhook',
  verifyTokenSecretName: 'VERIFY_TOKEN',
  topicArn: 'arn:aws:sns:eu-west-1:1:t',
  clientId: 'client',
  username: 'user',
  serviceAccount: 'push@project.iam.gserviceaccount.com',
  audience: 'https://example.com/hooks',
  authUrl: 'https://example.com/auth',
  bundleId: 'com.example',
  publicKey: 'public-key',
}

/** What the host gives a preset, by what the vector says that the receiver holds. */
export function optionsFor(vector: Vector): object {
  const names = heldBy(vector).map((_, place) => `SECRET_${place}`)
  const all: Record<string, unknown> = {
    ...VALID,
    publicOrigin: originOf(vector),
    webhookId: vector.webhookId ?? VALID.webhookId,
  }
  const { needs, hasSecret } = needsOf(vector)
  return {
    path: '/hooks',
    ...(hasSecret && names.length > 0 && { secretName: names }),
    ...Object.fromEntries(needs.map((need) => [need, all[need]])),
    ...vector.options,
  }
}

export const lookupOf =
  (vector: Vector): SecretLookup =>
  (name) =>
    heldBy(vector)[Number(name.slice('SECRET_'.length))] ?? null

const heldBy = ({ secret, publicKey }: Vector): string[] => [secret ?? publicKey ?? []].flat()

interface Needs {
  /** The options that the preset asks for beside its secret. */
  needs: string[]
  hasSecret: boolean
}

const known = new Map<string, Needs>()

/** Told by the refusals of the preset. */
function needsOf(vector: Vector): Needs {
  const found = known.get(vector.provider) ?? askedFor(presetOf(vector))
  known.set(vector.provider, found)
  return found
}

function askedFor(make: Make): Needs {
  const needs: string[] = []
  const given: Record<string, unknown> = { path: '/hooks', secretName: 'S' }
  for (;;) {
    try {
      make(given)
      return { needs, hasSecret: 'secretName' in given }
    } catch (error) {
      const { message } = error as Error
      const [, missing] = /the option "(\w+)" is missing/.exec(message) ?? []
      if (/there is no option "secretName"/.test(message)) delete given['secretName']
      else if (missing && missing in VALID) {
        needs.push(missing)
        given[missing] = VALID[missing as keyof typeof VALID]
      } else throw error
    }
  }
}
