/** A list as a table; on a narrow page each row becomes a card with the column's name by each value. */
import type { ComponentChildren } from 'preact'
import { useSession } from '../shell/session.ts'
import type { Pages } from '../state/queries.ts'
import { address, go, pathOf } from '../state/router.ts'
import { Button } from './button.tsx'
import { Empty, Loading, ProblemNote } from './notes.tsx'

export interface Column<Row> {
  name: string
  cell: (row: Row) => ComponentChildren
  /**
   * `end`: numbers and times. `main`: takes what room is left, and leads the card; `state` is
   * beside it there.
   */
  kind?: 'end' | 'main' | 'state'
  /** On a card, where the column's name would only repeat the value. */
  bare?: boolean
  /** It is left out where there is little room. */
  isLeast?: boolean
  /** Only an operator has different values in it. */
  operators?: boolean
}

export interface TableProps<Row> {
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  /** @default its `id` */
  id?: (row: Row) => string
  /** Where a click on a row leads; a link in the row must lead there too, for the keyboard. */
  to?: ((row: Row) => string) | undefined
}

export const Table = <Row,>({
  label,
  rows,
  columns: all,
  id = (row) => String((row as { id?: unknown }).id),
  to,
}: TableProps<Row>) => {
  const { session } = useSession()
  const columns = all.filter(({ operators }) => session.operator || !operators)
  return (
    <div class="table-frame">
      <table role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, kind, isLeast }) => (
              <th key={name} role="columnheader" scope="col" class={classOf(kind, isLeast)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr
              key={id(row)}
              role="row"
              class={to && 'leads'}
              onClick={(event) => {
                if (!to || isControl(event.target) || String(getSelection())) return
                if (event.ctrlKey || event.metaKey || event.shiftKey) inNewTab(to(row))
                else go(to(row))
              }}
              onAuxClick={(event) => {
                if (to && event.button === 1 && !isControl(event.target)) inNewTab(to(row))
              }}
            >
              {columns.map(({ name, cell, kind, bare, isLeast }) => (
                <td
                  key={name}
                  role="cell"
                  class={classOf(kind, isLeast)}
                  data-name={bare || kind === 'state' ? undefined : name}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const classOf = (kind = '', isLeast = false): string | undefined =>
  `${kind} ${isLeast ? 'least' : ''}`.trim() || undefined

/** As the browser does with a link. */
const inNewTab = (address: string): void => void open(address, '_blank', 'noopener')

const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, input, label, select') !== null

/** Where the rows lead of the list that was shown last. */
let listed: readonly string[] = []

/** What is before and after the shown page in the list that it was opened from. */
export function besides(): { newer?: string | undefined; older?: string | undefined } {
  const here = listed.indexOf(address())
  const at = here === -1 ? listed.map(pathOf).indexOf(pathOf(address())) : here
  return at === -1 ? {} : { newer: listed[at - 1], older: listed[at + 1] }
}

/** A table that is read page by page. `empty` is shown where it has no row. */
export function PagedTable<Row>({
  pages,
  empty,
  ...table
}: Omit<TableProps<Row>, 'rows'> & { pages: Pages<Row>; empty: ComponentChildren }) {
  const {
    rows,
    problem,
    hasMore,
    isCut,
    isFormer = false,
    fresh = 0,
    refresh,
    loadingMore = false,
    more,
    reload,
  } = pages
  if (table.to && rows) listed = rows.map(table.to)
  return (
    <>
      {problem && <ProblemNote problem={problem} retry={reload} />}
      {!rows && !problem && <Loading like="rows" />}
      {rows?.length === 0 && !isCut && !isFormer && empty}
      {isCut && (
        <Empty title={rows?.length === 0 ? 'Nothing found so far' : 'The search is not finished'}>
          It stopped after a moment, so as not to burden the database. Go on with older rows.
        </Empty>
      )}
      <div class="fresh" role="status">
        {fresh > 0 && <Button kind="primary" onClick={() => refresh?.()}>{`${fresh} new`}</Button>}
      </div>
      {rows && rows.length > 0 && (
        <div class="rows" aria-busy={isFormer}>
          <Table {...table} rows={rows} />
        </div>
      )}
      {hasMore && (
        <div class="more">
          <Button busy={loadingMore} onClick={() => more?.()}>
            {isCut ? 'Search further' : 'Show older'}
          </Button>
        </div>
      )}
    </>
  )
}
