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
  return { ...rest, filters, pages: usePages(name, input as CallInput<Name>) }
}

export const ListScreen = <Row,>({
  title,
  about,
  actions,
  list: { pages, filters, values, set, clear, any },
  unmatched = '',
  advice = 'Clear some of the filters to see more.',
  empty,
  children,
  ...table
}: Omit<TableProps<Row>, 'rows'> & {
  title: string
  about: string
  actions?: ComponentChildren
  list: List<Row>
  /** What is said where no row passes the filters, and what to do then. */
  unmatched?: string
  advice?: string
  /** What is said where there is no row at all. */
  empty: ComponentChildren
  /** Notes and dialogs. */
  children?: ComponentChildren
}) => (
  <Screen title={title} about={about} actions={actions}>
    <FilterBar filters={filters} values={values} onChange={set} onClear={any && clear} />
    {children}
    <Panel flush>
      <PagedTable
        {...table}
        pages={pages}
        empty={any ? <Empty title={unmatched}>{advice}</Empty> : empty}
      />
    </Panel>
  </Screen>
)
