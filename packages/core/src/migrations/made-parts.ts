/** The tables and functions that migrations make, and which of them a database lacks. */
import { readFile } from 'node:fs/promises'
import type { Db } from '../postgres/transaction.ts'

const MADE = /\bcreate (?:or replace )?(table|function) svc\."([^"]+)"/gi
const DROPPED = /\bdrop (table|function) (?:if exists )?svc\."([^"]+)"/gi

export interface MadePart {
  kind: 'table' | 'function'
  name: string
}

/** What the migrations of these texts make, in their order, and do not drop again. */
export function partsMadeBy(texts: readonly string[]): MadePart[] {
  const parts = new Map<string, MadePart>()
  for (const text of texts) {
    for (const part of partsIn(text, MADE)) parts.set(`${part.kind} ${part.name}`, part)
    for (const { kind, name } of partsIn(text, DROPPED)) parts.delete(`${kind} ${name}`)
  }
  return [...parts.values()]
}

const partsIn = (text: string, pattern: RegExp): MadePart[] =>
  [...text.matchAll(pattern)].map(([, kind = '', name = '']) => ({
    kind: kind.toLowerCase() as MadePart['kind'],
    name,
  }))

/** What the migrations of the folder have made and the database lacks: dropped, or not restored. */
export async function findMissingParts(db: Db, folder: URL, names: string[]): Promise<string[]> {
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')))
  const parts = partsMadeBy(texts)
  const { rows } = await db.query(
    `select part.kind || ' ' || part.name as missing
       from unnest($1::text[], $2::text[]) with ordinality as part (kind, name, n)
      where not exists (
        select from pg_class
         where part.kind = 'table' and relname = part.name and relkind in ('r', 'p')
           and relnamespace = (select oid from pg_namespace where nspname = 'svc')
        union all
        select from pg_proc
         where part.kind = 'function' and proname = part.name
           and pronamespace = (select oid from pg_namespace where nspname = 'svc'))
      order by n`,
    [parts.map(({ kind }) => kind), parts.map(({ name }) => name)],
  )
  return rows.map(({ missing }: { missing: string }) => missing)
}
