/**
 * A timestamp as ISO 8601 in UTC, written by Postgres: what pg makes of a timestamp depends on the
 * host's type parsers. What no four digits of a year can write, `infinity` too, becomes the nearest
 * time that can be written, so that one odd row breaks no list.
 */
export const isoOf = (column: string): string =>
  `case when ${column} is not null then
     to_char(greatest(least(${column}, '9999-12-31 23:59:59.999+00'), '0001-01-01 00:00:00+00')
       at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end`
