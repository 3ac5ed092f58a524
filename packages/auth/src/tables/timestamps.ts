/**
 * A timestamp as ISO 8601 in UTC, written by Postgres: what pg returns depends on the host's type
 * parsers. A time that four digits of a year cannot write, such as `infinity`, becomes the nearest
 * one that they can, so that such a row does not break a list.
 */
export const isoOf = (column: string): string =>
  `case when ${column} is not null then
     to_char(greatest(least(${column}, '9999-12-31 23:59:59.999+00'), '0001-01-01 00:00:00+00')
       at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end`
