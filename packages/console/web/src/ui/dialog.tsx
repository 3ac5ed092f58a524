/** The browser's own dialog: it keeps the focus within, closes on Escape, and gives the focus back. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { CallInput, CallName, CallResult } from '../server/contract.ts'
import { useChange } from '../state/queries.ts'
import { askBeforeLeaving, mayAsk } from '../state/router.ts'
import { Button, IconButton } from './button.tsx'
import { ProblemNote } from './notes.tsx'
import { say } from './toasts.tsx'

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
  wide?: boolean
  /** A secret is on show that is never shown again: neither Escape nor a click beside it closes it. */
  sticky?: boolean
  /** What closing it would lose: it is asked first. */
  question?: string | undefined
  /** What is behind it is not shown. */
  covering?: boolean
}

/** Where nothing can be asked, a button means it. */
const isMeant = (question: string | undefined): boolean =>
  question === undefined || !mayAsk || confirm(question)

export function Dialog({
  title,
  onClose,
  children,
  wide = false,
  sticky = false,
  question,
  covering = false,
}: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const opener = document.activeElement
    const element = dialog.current
    element?.showModal()
    element?.querySelector<HTMLElement>('[autofocus], input, select, textarea')?.focus()
    return () => {
      element?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  useEffect(() => {
    if (question !== undefined) return askBeforeLeaving(() => question)
  }, [question])
  /** Escape, or a click beside it: where nothing can be asked, what would lose something does nothing. */
  const slip = () => {
    if (!sticky && (question === undefined || mayAsk) && isMeant(question)) onClose()
  }
  return (
    <dialog
      ref={dialog}
      class={[wide && 'wide', covering && 'covering'].filter(Boolean).join(' ') || undefined}
      aria-labelledby={id}
      onKeyDown={(event) => {
        // A browser lets a dialog keep itself open once, and closes it at the second Escape.
        if (event.key !== 'Escape' || !(sticky || question !== undefined)) return
        event.preventDefault()
        slip()
      }}
      onCancel={(event) => {
        event.preventDefault()
        slip()
      }}
      onClick={(event) => {
        if (event.target === dialog.current) slip()
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={id}>{title}</h2>
          <IconButton icon="close" label="Close" onClick={() => isMeant(question) && onClose()} />
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** A dialog with a form: its fields, what a submit calls, its error, and the buttons to submit and to cancel. */
export function FormDialog<
  Name extends CallName,
  Input = CallInput<Name>,
  Result = CallResult<Name>,
>({
  title,
  submit,
  kind = 'primary',
  disabled = false,
  wide = false,
  question,
  call,
  input,
  does,
  done,
  onDone,
  onClose,
  children,
}: {
  title: string
  submit: string
  kind?: 'primary' | 'danger'
  disabled?: boolean
  wide?: boolean
  question?: string | undefined
  call: Name
  /** Nothing is called without it: something in the form is wrong. */
  input: () => Input | undefined
  /** @default the call */
  does?: (input: Input) => Promise<Result>
  /** Said after it, and the dialog is closed. */
  done?: (result: Result) => string
  onDone?: (result: Result) => void
  onClose: () => void
  children: ComponentChildren
}) {
  const end = (result: Result) => {
    if (done) {
      say(done(result))
      onClose()
    }
    onDone?.(result)
  }
  const { busy, problem, run } = useChange(call, end, does)
  return (
    <Dialog title={title} onClose={onClose} wide={wide} question={question}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const given = busy || disabled ? undefined : input()
          if (given !== undefined) run(given)
        }}
      >
        {children}
        {problem && <ProblemNote problem={problem} />}
        <footer>
          <Button onClick={() => isMeant(question) && onClose()}>Cancel</Button>
          <Button type="submit" kind={kind} busy={busy} disabled={disabled}>
            {submit}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
