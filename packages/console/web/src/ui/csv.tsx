/** The rows of a list as a file for a spreadsheet: those of its filters, beyond the ones that are shown. */
import { useState } from 'preact/hooks'
import { asProblem, call } from '../server/call.ts'
import type { Page } from '../server/contract.ts'
import type { ListName } from '../state/queries.ts'
import { csvOf } from '../text/csv.ts'
import { count } from '../text/format.ts'
import { Button } from './button.tsx'
import type { List } from './list-screen.tsx'
import { say } from './toasts.tsx'

const MOST = 10_000
const PAGE = 200

export function CsvButton({
  list: { name, input },
}: {
  list: Pick<List<unknown>, 'name' | 'input'>
}) {
  const [busy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    try {
      const { rows, isCut } = await readAll(name, input)
      offer(`${name.split('.')[0]}.csv`, csvOf(rows))
      say(
        isCut
          ? `The file has the newest ${count(MOST)} rows`
          : `Rows in the file: ${count(rows.length)}`,
      )
    } catch (error) {
      say(asProblem(error).message)
    }
    setBusy(false)
  }
  return (
    <Button busy={busy} onClick={() => void save()}>
      CSV
    </Button>
  )
}

async function readAll(name: ListName, input: object) {
  const rows: object[] = []
  let after: string | null = null
  do {
    const page: Page<unknown> = await call(name, {
      ...input,
      limit: PAGE,
      ...(after !== null && { after }),
    })
    rows.push(...(page.items as object[]))
    after = page.next
  } while (after !== null && rows.length < MOST)
  return { rows, isCut: after !== null }
}

function offer(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
