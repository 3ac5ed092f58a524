/** Asks the user to type a word before something is deleted. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { FormDialog } from './dialog.tsx'
import { TextField } from './field.tsx'

export function DeleteDialog({
  title,
  call,
  id,
  done,
  onDone,
  onClose,
  children,
}: {
  title: string
  call: 'users.delete' | 'webhooks.delete'
  id: string
  done: string
  onDone: () => void
  onClose: () => void
  /** What goes with it. */
  children: ComponentChildren
}) {
  const [typed, setTyped] = useState('')
  return (
    <FormDialog
      title={title}
      submit="Delete"
      kind="danger"
      disabled={typed.trim() !== 'delete'}
      call={call}
      input={() => ({ id })}
      done={() => done}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{children}</p>
      <TextField label="Type “delete” to confirm" value={typed} onValue={setTyped} />
    </FormDialog>
  )
}
