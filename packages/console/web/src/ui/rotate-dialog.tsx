/** Asks how long the old one stays valid beside the new one, which is shown once it is made. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { CallResult } from '../server/contract.ts'
import { FormDialog } from './dialog.tsx'
import { Select } from './field.tsx'

const OVERLAPS = [
  { value: '0', label: 'at once' },
  { value: '3600', label: 'in an hour' },
  { value: '86400', label: 'in a day' },
  { value: '604800', label: 'in a week' },
]

type Rotation = 'keys.rotate' | 'webhooks.rotateSecret'

export function RotateDialog<Name extends Rotation>({
  title,
  call,
  id,
  old,
  shown,
  onClose,
  children,
}: {
  title: string
  call: Name
  id: string
  /** What ends then: "The old key". */
  old: string
  shown: (made: CallResult<Name>) => ComponentChildren
  onClose: () => void
  children: ComponentChildren
}) {
  const [overlap, setOverlap] = useState('86400')
  const [made, setMade] = useState<CallResult<Name>>()
  if (made !== undefined) return <>{shown(made)}</>
  return (
    <FormDialog
      title={title}
      submit="Rotate"
      call={call}
      input={() => ({ id, overlapSeconds: Number(overlap) })}
      onDone={setMade}
      onClose={onClose}
    >
      <p>{children}</p>
      <Select label={`${old} ends`} value={overlap} onValue={setOverlap} choices={OVERLAPS} />
    </FormDialog>
  )
}
