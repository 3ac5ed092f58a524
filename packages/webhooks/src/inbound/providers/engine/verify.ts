/** Verifies a request by the schemes of a row. */
import type { InboundRequest, Verify } from '../../source.ts'
import { reject } from '../../verify/checks.ts'
import {
  expectNames,
  secretsOf,
  type NamedSecret,
  type SecretName,
} from '../../verify/secret-names.ts'
import { hideHeaders } from '../../verify/secret-headers.ts'
import type { Preset, Scheme } from '../preset.ts'
import { itemsOf } from './items.ts'
import type { Reading } from './reading.ts'
import { compileScheme, type CompiledScheme, type With } from './schemes.ts'

export interface VerifySettings {
  secretName: SecretName | null
  toleranceSeconds: number | undefined
  readingOf: (request: InboundRequest, body: string) => Reading
}

interface OneScheme extends CompiledScheme {
  secretBegins: string | undefined
  eachItem: boolean
}

/** Where a row has no secret. */
const NO_SECRET: NamedSecret[] = [{ name: '', value: '' }]

export function verifyBy(
  { schemes, split }: Preset,
  { secretName, toleranceSeconds, readingOf }: VerifySettings,
): Verify {
  const compiled = schemes.map((scheme): OneScheme => ({
    ...compileScheme(scheme),
    secretBegins: scheme.secretBegins,
    eachItem: scheme.eachItem ?? false,
  }))
  const begins = compiled.flatMap((scheme) => scheme.secretBegins ?? [])
  /** A scheme for some secrets has them to itself. */
  const isFor = ({ secretBegins }: OneScheme, { value }: NamedSecret): boolean =>
    secretBegins === undefined
      ? !begins.some((begin) => value.startsWith(begin))
      : value.startsWith(secretBegins)

  const verify: Verify = async (request, body, lookup, outside) => {
    const secrets = secretName === null ? NO_SECRET : await secretsOf(request, lookup, secretName)
    const reading = readingOf(request, body)
    const items = itemsOf(split, reading)
    const readings = (scheme: OneScheme): Reading[] =>
      scheme.eachItem ? items.map((item) => ({ ...reading, item })) : [reading]
    const carries = (scheme: OneScheme): boolean =>
      readings(scheme).some((one) => scheme.when(one) && scheme.isPresent(one))

    let isGenuine = false
    // Every secret is tried, also after one has matched: the time does not tell which one it is.
    for (const secret of secrets) {
      const scheme = compiled.find((one) => isFor(one, secret) && carries(one))
      if (!scheme) {
        reject(request, 'the request carries no signature of a scheme that is accepted')
        continue
      }
      const given: With = {
        secret: secret.value,
        secretName: secret.name,
        toleranceSeconds,
        fetching: outside,
      }
      if (await verifiesAll(scheme, readings(scheme), given)) isGenuine = true
    }
    return isGenuine
  }
  hideHeaders(verify, schemes.flatMap(headersOf))
  return secretName === null ? verify : expectNames(verify, secretName)
}

/** The headers that hold what the scheme verifies. */
function headersOf(scheme: Scheme): string[] {
  if (scheme.algorithm === 'basic') return ['authorization']
  const places = 'signature' in scheme ? scheme.signature.in : scheme.in
  return [places].flat().flatMap((place) => {
    return place.startsWith('header:') ? [place.slice('header:'.length)] : []
  })
}

async function verifiesAll(
  scheme: OneScheme,
  readings: readonly Reading[],
  given: With,
): Promise<boolean> {
  for (const reading of readings) {
    if (!scheme.when(reading)) return reject(reading.request, 'an item is of another scheme')
    if (!(await scheme.verify(reading, given))) return false
  }
  return readings.length > 0
}
