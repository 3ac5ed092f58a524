import type { ComponentChildren } from 'preact'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Copy } from './facts.tsx'

export const Secret = ({ text, what }: { text: string; what: string }) => (
  <div class="secret">
    <code>{text}</code>
    <Copy text={text} what={what} />
  </div>
)

/** Shows a secret, and stays until its reader closes it. */
export const SecretDialog = ({
  title,
  secret,
  what,
  onClose,
  children,
}: {
  title: string
  secret: string
  what: string
  onClose: () => void
  children: ComponentChildren
}) => (
  <Dialog title={title} onClose={onClose} sticky>
    <div class="form">
      <p>{children}</p>
      <Secret text={secret} what={what} />
      <footer>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </div>
  </Dialog>
)
