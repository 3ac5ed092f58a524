/** A screen with one list: its filters, its rows, and what it says without rows. */
import type { ComponentChildren } from 'preact'
import type { CallInput } from '../server/contract.ts'
import { usePages, type ListName, type Pages, type RowOf } from '../state/queries.ts'
import { useFilters } from '../state/router.ts'
import { FilterBar, OPERATORS, type Filter, type FilterValues } from './filters.tsx'
import { Panel, Screen } from './layout.tsx'
import { Empty } from './notes.tsx'
import { PagedTable, type TableProps } from './table.tsx'

export interface List<Row> {
  name: ListName
  /** Of the call, for the filters. */
  input: object
  pages: Pages<Row>
  filters: readonly Filter[]
  values: FilterValues
  set: (change: Record<string, string>) => void
  clear: () => void
  /** Whether any filter is set. */
  any: boolean
}

/** The rows of a call for the filters in the address. `inputOf`: its input, where the filters are not it. */
export function useList<Name extends ListName>(
  name: Name,
  filters: readonly Filter[] = [],
  inputOf: (given: Partial<FilterValues>) => object = (given) => given,
): List<RowOf<Name>> {
  const { given, ...rest } = useFilters(filters.map((filter) => filter.name))
  const input = inputOf(given['tenant'] === OPERATORS ? { ...given, tenant: '' } : given)
  return { ...rest, name, input, filters, pages: usePages(name, input as CallInput<Name>) }
}

type ListProps<Row> = Omit<TableProps<Row>, 'rows'> & {
  list: List<Row>
  /** What is said where no row passes the filters, and what to do then. */
  unmatched?: string
  advice?: string
  /** What is said where there is no row at all. */
  empty: ComponentChildren
  /** Notes and dialogs, between its filters and its rows. */
  children?: ComponentChildren
}

export const ListScreen = <Row,>({
  title,
  about,
  actions,
  ...list
}: ListProps<Row> & { title: string; about: string; actions?: ComponentChildren }) => (
  <Screen title={title} about={about} actions={actions}>
    <FilteredList {...list} />
  </Screen>
)

/** A list with its filters, also within the screen of something else. */
export const FilteredList = <Row,>({
  list: { pages, filters, values, set, clear, any },
  unmatched = '',
  advice = 'Clear some of the filters to see more.',
  empty,
  children,
  ...table
}: ListProps<Row>) => (
  <>
    <FilterBar filters={filters} values={values} onChange={set} onClear={any && clear} />
    {children}
    <Panel flush>
      <PagedTable
        {...table}
        pages={pages}
        empty={any ? <Empty title={unmatched}>{advice}</Empty> : empty}
      />
    </Panel>
  </>
)
