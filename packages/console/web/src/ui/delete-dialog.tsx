/** Asks the user to type a word before something is deleted. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useChange } from '../state/queries.ts'
import { FormDialog } from './dialog.tsx'
import { TextField } from './field.tsx'

export function DeleteDialog({
  title,
  call,
  id,
  onDone,
  onClose,
  children,
}: {
  title: string
  call: 'users.delete' | 'webhooks.delete'
  id: string
  onDone: () => void
  onClose: () => void
  /** What goes with it. */
  children: ComponentChildren
}) {
  const [typed, setTyped] = useState('')
  const change = useChange(call, onDone)
  return (
    <FormDialog
      title={title}
      submit="Delete"
      kind="danger"
      change={change}
      disabled={typed.trim() !== 'delete'}
      onSubmit={() => change.run({ id })}
      onClose={onClose}
    >
      <p>{children}</p>
      <TextField label="Type “delete” to confirm" value={typed} onValue={setTyped} />
    </FormDialog>
  )
}
