/** Checks of a webhook's settings that a schema cannot express. */
import { compileFilter } from '@svc/core/internal'
import { InvalidMetadata, TimeoutTooLong, UnknownTransform } from '../errors.ts'
import { assertCustomHeaders, assertNoContentType } from '../outbound/settings/custom-headers.ts'
import { NO_TRANSFORM, type AnyTransform } from '../outbound/transforms/transform.ts'
import type { SettingsInput } from '../settings-schemas.ts'

export interface SettingsRules {
  deliveryTimeoutMs: number
  transforms: ReadonlyMap<string, AnyTransform>
  headerPrefix: string
}

/** @throws InvalidFilter, InvalidHeader, InvalidMetadata, TimeoutTooLong, UnknownTransform */
export function checkSettings(
  { filter, headers, metadata, timeoutMs, transform }: SettingsInput,
  { deliveryTimeoutMs, transforms, headerPrefix }: SettingsRules,
): void {
  if (filter) compileFilter(filter)
  if (headers) assertCustomHeaders(headers, headerPrefix)
  if (metadata) assertMetadata(metadata)
  if (timeoutMs && timeoutMs > deliveryTimeoutMs) throw new TimeoutTooLong(deliveryTimeoutMs)
  if (typeof transform === 'string' && transform !== NO_TRANSFORM && !transforms.has(transform)) {
    throw new UnknownTransform(transform, [...transforms.keys(), NO_TRANSFORM].join(', '))
  }
}

/** Postgres stores no NUL and no half of a surrogate pair. @throws InvalidMetadata */
function assertMetadata(metadata: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(metadata)) {
    if (isStorable(name) && isStorable(value)) continue
    const shown = JSON.stringify(name.slice(0, 40))
    throw new InvalidMetadata(`metadata ${shown} holds a NUL, or half of a surrogate pair`)
  }
}

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** Checks what depends on two settings: on what is given, and else on what the webhook has. */
export function checkCombination(
  given: SettingsInput,
  before: Pick<SettingsInput, 'headers' | 'transform'> = {},
): void {
  const { headers, transform } = { ...before, ...definedOf(given) }
  const isOwnBody = transform === undefined || transform === null || transform === NO_TRANSFORM
  if (isOwnBody) assertNoContentType(headers ?? null)
}

const definedOf = ({ headers, transform }: SettingsInput): SettingsInput => ({
  ...(headers !== undefined && { headers }),
  ...(transform !== undefined && { transform }),
})
