/** The conditions of a row, and the values that must be digests of something. */
import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import type { Place, Text, When } from '../preset.ts'
import type { Binding } from '../preset-schemes.ts'
import { equalBytes } from './algorithms.ts'
import { findAt, isAbsentAt, type Find, type Reading } from './places.ts'
import { chunksOf, stringOf } from './text.ts'

type Test = (reading: Reading) => boolean

/** Whether all conditions hold. */
export function holds(when: When | undefined): Test {
  const tests = Object.entries(when ?? {}).map(([place, wanted]) =>
    condition(place as Place, wanted),
  )
  if (tests.length === 0) return () => true
  return (reading) => tests.every((test) => test(reading))
}

function condition(place: Place, wanted: string | readonly string[] | boolean | undefined): Test {
  if (wanted === false) return isAbsentAt(place)
  const find = findAt(place)
  if (wanted === true) return (reading) => find(reading) !== undefined
  const texts = [wanted ?? []].flat().map((text: Text) => stringOf(text))
  return (reading) => {
    const value = find(reading)
    return value !== undefined && texts.some((text) => text(reading) === value)
  }
}

/** Whether the values are the digests that they must be; the place of the first that is not. */
export function unbound(
  binds: readonly Binding[] | undefined,
): (reading: Reading) => Place | undefined {
  const checks = (binds ?? []).map((bind) => ({ place: bind.in, test: binding(bind) }))
  return (reading) => [checks.find(({ test }) => !test(reading))?.place ?? []].flat()[0]
}

function binding({
  in: place,
  of = '{body}',
  hash: algorithm,
  encoding = 'hex',
  orAbsent,
  ifGiven,
}: Binding): Test {
  const finds = [place].flat().map(findAt)
  const find: Find = (reading) => {
    for (const one of finds) {
      const value = one(reading)
      if (value !== undefined) return value
    }
    return undefined
  }
  if (of === '{url}' && algorithm === undefined) return isThisUrl(find)
  const chunks = chunksOf(of)
  return (reading) => {
    const value = find(reading)
    const signed = chunks(reading)
    if (ifGiven && signed === undefined) return true
    if (value === undefined || signed === undefined) {
      return orAbsent === true && value === undefined && signed === undefined
    }
    const bytes = Buffer.concat(signed.map((chunk) => Buffer.from(chunk as string)))
    if (!algorithm) return equalBytes(Buffer.from(value), bytes)
    const expected = hash(algorithm, bytes, encoding)
    return equalBytes(Buffer.from(plain(value, encoding)), Buffer.from(plain(expected, encoding)))
  }
}

/** Without the public origin, which the host need not give then, path and query are compared. */
const isThisUrl =
  (find: Find): Test =>
  (reading) => {
    const given = URL.parse(find(reading) ?? '')
    if (!given) return false
    const { pathname, search, href } = given
    if (reading.url === undefined) return pathname + search === reading.sent.target
    return href === URL.parse(reading.url)?.href
  }

/** Hexadecimal in either case, and base64 with padding or without, are the same value. */
const plain = (digest: string, encoding: Binding['encoding']): string =>
  encoding === 'hex' ? digest.toLowerCase() : digest.replace(/={1,2}$/, '')
