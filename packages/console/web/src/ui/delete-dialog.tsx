/** Asks the user to type a word before something is deleted. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useChange } from '../state/use-change.ts'
import { FormDialog } from './dialog.tsx'
import { TextField } from './field.tsx'

export function DeleteDialog({
  title,
  remove,
  onDone,
  onClose,
  children,
}: {
  title: string
  remove: () => Promise<unknown>
  onDone: () => void
  onClose: () => void
  /** What goes with it. */
  children: ComponentChildren
}) {
  const [typed, setTyped] = useState('')
  const { busy, problem, run } = useChange()
  const submit = async () => {
    if (await run(remove)) onDone()
  }
  return (
    <FormDialog
      title={title}
      submit="Delete"
      kind="danger"
      busy={busy}
      problem={problem}
      disabled={typed.trim() !== 'delete'}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <p>{children}</p>
      <TextField label="Type “delete” to confirm" value={typed} onValue={setTyped} />
    </FormDialog>
  )
}
