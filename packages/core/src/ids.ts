import { v5, v7 } from 'uuid'

/** UUIDv7 (RFC 9562 §5.7), monotonic within a process: newest first is a sort by id. */
export const uuidv7 = (): string => v7()

const NAMESPACE = 'b3f0d9e2-6c1b-5c0e-9d53-2a1f6f3a7c11'

/**
 * The id that follows from what a job is about: UUIDv5 (RFC 9562 §5.5). Each part carries its
 * length, so that no two lists of parts read the same.
 */
export const derivedId = (...parts: string[]): string =>
  v5(parts.map((part) => `${part.length}:${part}`).join(''), NAMESPACE)

/** Text that Postgres gives back as it was. */
export const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' &&
  value.length >= 1 &&
  value.length <= longest &&
  !value.includes('\0') &&
  value.isWellFormed()

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text)
