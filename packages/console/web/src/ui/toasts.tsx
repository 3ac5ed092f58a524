/** Short messages about what was done. Screen readers read them out. */
import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface Toast {
  id: number
  text: string
}

const SHOWN_MS = 5000
let last = 0
let show: ((toast: Toast) => void) | undefined

export const say = (text: string): void => show?.({ id: ++last, text })

export function Toasts() {
  const [toasts, setToasts] = useState<Toast[]>([])
  useEffect(() => {
    show = (toast) => {
      setToasts((before) => [...before.slice(-2), toast])
      setTimeout(() => setToasts((before) => before.filter(({ id }) => id !== toast.id)), SHOWN_MS)
    }
    return () => {
      show = undefined
    }
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text }) => (
        <p key={id}>
          <Icon name="check" /> {text}
        </p>
      ))}
    </div>
  )
}
