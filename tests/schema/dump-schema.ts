import type { Client } from 'pg'

/** A digest stands for the bodies of its functions: it is enough to show that an upgrade changed them. */
const SCHEMA_OF_PG_BOSS = 'svc_jobs'

/**
 * What stands in some schemas, as text that reads like SQL: types, tables with columns, constraints,
 * indexes, triggers and storage parameters, views, functions. It is read from the catalogue: pg_dump
 * is not on every machine, and its output differs from version to version.
 */
export async function dumpSchemas(client: Client, schemas: string[]): Promise<string> {
  // Names outside of pg_catalog come out qualified, values as the same text on every server.
  await client.query(
    `set search_path = ''; set timezone = 'UTC'; set intervalstyle = 'postgres'; set datestyle = 'ISO'`,
  )
  const list = async (text: string): Promise<string[]> =>
    (await client.query<{ line: string }>(text, [schemas])).rows.map(({ line }) => line)
  const parts = [await list(TYPES), await list(SEQUENCES), await relationsOf(client, schemas)]
  parts.push(await list(VIEWS), await list(FUNCTIONS))
  return `${parts.flat().join('\n\n')}\n`
}

interface Relation {
  name: string
  /** `create … table …`, and what a partition is one of. */
  head: string
  parent: string | null
  /** What stands between the parentheses: columns, then constraints. */
  body: string[]
  /** What follows the closing parenthesis. */
  tail: string
  /** Statements of their own: indexes, triggers. */
  after: string[]
}

async function relationsOf(client: Client, schemas: string[]): Promise<string[]> {
  const { rows } = await client.query<Relation>(TABLES, [schemas])
  const byName = new Map(rows.map((relation) => [relation.name, relation]))
  // The partitions of all days are one text, unless one of them differs.
  return [...new Set(rows.map((relation) => withoutDays(textOf(relation, byName))))]
}

function textOf({ head, parent, body, tail, after }: Relation, all: Map<string, Relation>): string {
  // Only what a partition has besides its table is shown.
  const common = new Set(parent === null ? [] : all.get(parent)?.body)
  const lines = body.filter((line) => !common.has(line)).map((line) => `  ${line}`)
  const inner = parent !== null && lines.length === 0 ? '' : ` (\n${lines.join(',\n')}\n)`
  return [`${head}${inner}${tail};`, ...after.map((line) => `${line};`)].join('\n')
}

/** Takes the day out of the name of a partition that is made for one, and out of its bounds. */
function withoutDays(text: string): string {
  const [, day] = /^create table \S+[._](\d{4}-\d\d-\d\d|\d{8})"? partition of/.exec(text) ?? []
  if (day === undefined) return text
  return text
    .replaceAll(day, '<day>')
    .replace(/FOR VALUES FROM \('.*?'\) TO \('.*?'\)/, 'FOR VALUES FROM (…) TO (…)')
}

const TYPES = `
  select format('create type %I.%I as enum (%s);', n.nspname, t.typname,
           string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)) as line
    from pg_type t
    join pg_namespace n on n.oid = t.typnamespace
    join pg_enum e on e.enumtypid = t.oid
   where n.nspname = any($1)
   group by n.nspname, t.typname
   order by n.nspname, t.typname`

// The sequence of an identity column is part of its table.
const SEQUENCES = `
  select format('create sequence %I.%I;', n.nspname, c.relname) as line
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where c.relkind = 'S' and n.nspname = any($1)
     and not exists (
       select from pg_depend d
       where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i')
   order by n.nspname, c.relname`

const VIEWS = `
  select format(E'create %sview %I.%I as\\n%s',
           case c.relkind when 'm' then 'materialized ' end, n.nspname, c.relname,
           pg_get_viewdef(c.oid)) as line
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('v', 'm') and n.nspname = any($1)
   order by n.nspname, c.relname`

const FUNCTIONS = `
  select case when n.nspname = '${SCHEMA_OF_PG_BOSS}'
           then replace(rtrim(pg_get_functiondef(p.oid), E'\\n'), p.prosrc, ' md5 ' || md5(p.prosrc) || ' ')
           else rtrim(pg_get_functiondef(p.oid), E'\\n')
         end || ';' as line
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where n.nspname = any($1) and p.prokind <> 'a'
   order by n.nspname, p.proname, pg_get_function_identity_arguments(p.oid) collate "C"`

const COLUMNS = `
  select array_agg(concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
             case when a.attcollation <> t.typcollation then
               (select 'collate ' || quote_ident(collname) from pg_collation where oid = a.attcollation)
             end,
             case when a.attstorage <> t.typstorage then
               'storage ' || case a.attstorage
                 when 'p' then 'plain' when 'e' then 'external' when 'm' then 'main' else 'extended' end
             end,
             case a.attidentity when 'a' then 'generated always as identity'
                                when 'd' then 'generated by default as identity' end,
             case when a.attgenerated <> '' then format('generated always as (%s) %s',
                 pg_get_expr(d.adbin, d.adrelid),
                 case a.attgenerated when 's' then 'stored' else 'virtual' end)
               else 'default ' || pg_get_expr(d.adbin, d.adrelid) end,
             case when a.attnotnull then 'not null' end) order by a.attnum)
    from pg_attribute a
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped`

// From Postgres 18 on, "not null" is a constraint with a name ('n') as well.
const CONSTRAINTS = `
  select array_agg(format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid))
                   order by k.contype, k.conname)
    from pg_constraint k
   where k.conrelid = c.oid and k.contype in ('c', 'f', 'p', 'u', 'x') and k.conparentid = 0`

// Those of a constraint stand with the table, those that a partition has from its table with that.
const INDEXES = `
  select array_agg(pg_get_indexdef(i.indexrelid) order by x.relname)
    from pg_index i
    join pg_class x on x.oid = i.indexrelid
   where i.indrelid = c.oid and not x.relispartition
     and not exists (select from pg_constraint k where k.conindid = i.indexrelid)`

const TRIGGERS = `
  select array_agg(pg_get_triggerdef(g.oid) || case g.tgenabled when 'O' then '' else
           format(' -- enabled: %s', g.tgenabled) end order by g.tgname)
    from pg_trigger g
   where g.tgrelid = c.oid and not g.tgisinternal and g.tgparentid = 0`

const TABLES = `
  select c.oid::regclass::text as name,
         format('create %stable %s%s', case c.relpersistence when 'u' then 'unlogged ' end,
           c.oid::regclass,
           ' partition of ' || (select inhparent::regclass from pg_inherits
                                 where inhrelid = c.oid and c.relispartition)) as head,
         (select inhparent::regclass::text from pg_inherits
           where inhrelid = c.oid and c.relispartition) as parent,
         coalesce((${COLUMNS}), '{}') || coalesce((${CONSTRAINTS}), '{}') as body,
         concat(' ' || pg_get_expr(c.relpartbound, c.oid),
           ' partition by ' || pg_get_partkeydef(c.oid),
           ' with (' || array_to_string(c.reloptions, ', ') || ')',
           (select ' with (toast.' || array_to_string(toast.reloptions, ', toast.') || ')'
              from pg_class toast where toast.oid = c.reltoastrelid)) as tail,
         coalesce((${INDEXES}), '{}') || coalesce((${TRIGGERS}), '{}') as after
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p') and n.nspname = any($1)
   order by n.nspname, c.relname`
