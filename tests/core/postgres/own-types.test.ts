import type pg from 'pg'
import t from 'tap'
import { OWN_TYPES } from '../../../packages/core/src/postgres/own-types.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { sessionOn } from '../../support/session.ts'

const VALUES = `select true as a, 1::int8 as b, 2::int2 as c, 3::int4 as d, 'e' as e, 6::oid as f,
  '{"g": 1}'::json as g, 1.5::float4 as h, 2.5::float8 as i, '{1,2}'::int2[] as j, '{3,null}'::int4[] as k,
  '{a,"b,c",null}'::text[] as l, 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'::uuid as m,
  '{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}'::uuid[] as n, '{"o": [true]}'::jsonb as o,
  null::jsonb as p, '2026-01-02T03:04:05Z'::timestamptz as q, '{{1,2},{3,4}}'::int4[] as r`

t.test('types are read as pg reads them where a host has not changed that', async (t) => {
  const client = await sessionOn(t, await freshDatabase(t))
  const { rows } = await client.query(VALUES)
  const own = await client.query({ text: VALUES, types: OWN_TYPES } as pg.QueryConfig)
  t.strictSame(own.rows, rows)
})
