import { InvalidMetadata } from '../../errors.ts'

/** Postgres stores no NUL and no half of a surrogate pair. @throws InvalidMetadata */
export function assertMetadata(metadata: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(metadata)) {
    if (isStorable(name) && isStorable(value)) continue
    const shown = JSON.stringify(name.slice(0, 40))
    throw new InvalidMetadata(`metadata ${shown} holds a NUL, or half of a surrogate pair`)
  }
}

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()
