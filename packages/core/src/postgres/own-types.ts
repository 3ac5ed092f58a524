/**
 * The type parsers of our statements. A host may have set parsers in pg, for all its pools or for the
 * pool that it passed. Those parsers read the answers to the host's own statements only.
 */
import pg from 'pg'

type Parse = (text: string) => unknown

const number: Parse = Number
const json: Parse = (text) => JSON.parse(text)
const textArray: Parse = (text) => arrayOf(text, (element) => element)
const numberArray: Parse = (text) => arrayOf(text, number)

/** By the OID of the type: its parser in pg, unless a host has set another one. */
const PARSERS = new Map<number, Parse>([
  [16, (text) => text === 't'], // boolean
  [20, (text) => text], // bigint
  [21, number], // smallint
  [23, number], // integer
  [25, (text) => text], // text
  [26, number], // oid
  [114, json], // json
  [700, number], // real
  [701, number], // double precision
  [1005, numberArray], // smallint[]
  [1007, numberArray], // integer[]
  [1009, textArray], // text[]
  [2950, (text) => text], // uuid
  [2951, textArray], // uuid[]
  [3802, json], // jsonb
])

interface ArrayParser {
  create(text: string, parse: Parse): { parse(): unknown[] }
}

const arrayOf = (text: string, parse: Parse): unknown[] =>
  (pg.types as unknown as { arrayParser: ArrayParser }).arrayParser.create(text, parse).parse()

/** The field `types` of a query of pg. */
export const OWN_TYPES = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): unknown =>
    (format === 'binary' ? undefined : PARSERS.get(oid)) ?? pg.types.getTypeParser(oid, format),
}
