import type { ComponentChildren } from 'preact'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Copy } from './facts.tsx'

export const Secret = ({
  text,
  what,
  action,
}: {
  text: string
  what: string
  /** What else can be done with it. */
  action?: ComponentChildren
}) => (
  <div class="secret">
    <code>{text}</code>
    <Copy text={text} what={what} />
    {action}
  </div>
)

/** Shows a secret, and stays until its reader closes it. */
export const SecretDialog = ({
  title,
  secret,
  what,
  action,
  onClose,
  children,
}: {
  title: string
  secret: string
  what: string
  action?: ComponentChildren
  onClose: () => void
  children: ComponentChildren
}) => (
  <Dialog title={title} onClose={onClose} sticky>
    <div class="form">
      <p>{children}</p>
      <Secret text={secret} what={what} action={action} />
      <footer>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </div>
  </Dialog>
)
