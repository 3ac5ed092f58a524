/** Asks how long the old one stays valid beside the new one, which is shown once it is made. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useChange } from '../state/use-change.ts'
import { FormDialog } from './dialog.tsx'
import { Select } from './field.tsx'

const OVERLAPS = [
  { value: '0', label: 'at once' },
  { value: '3600', label: 'in an hour' },
  { value: '86400', label: 'in a day' },
  { value: '604800', label: 'in a week' },
]

export function RotateDialog<Made>({
  title,
  old,
  rotate,
  shown,
  onClose,
  children,
}: {
  title: string
  /** What ends then: "The old key". */
  old: string
  rotate: (overlapSeconds: number) => Promise<Made>
  shown: (made: Made) => ComponentChildren
  onClose: () => void
  children: ComponentChildren
}) {
  const [overlap, setOverlap] = useState('86400')
  const [made, setMade] = useState<Made>()
  const { busy, problem, run } = useChange()
  const submit = async () => setMade(await run(() => rotate(Number(overlap))))
  if (made !== undefined) return <>{shown(made)}</>
  return (
    <FormDialog
      title={title}
      submit="Rotate"
      busy={busy}
      problem={problem}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <p>{children}</p>
      <Select label={`${old} ends`} value={overlap} onValue={setOverlap} choices={OVERLAPS} />
    </FormDialog>
  )
}
