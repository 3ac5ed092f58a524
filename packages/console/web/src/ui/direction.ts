/**
 * Characters that reverse the direction of text could make it read as another text. In payloads and
 * in names they are shown as escapes.
 */
import { options, type VNode } from 'preact'

const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

export const withoutTurns = (text: string): string =>
  text.replace(TURNS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** All text from outside is shown in a `bdi`: this is done in every one. */
export function escapeTurns(): void {
  options.vnode = (vnode: VNode) => {
    const props = vnode.props as { children?: unknown }
    if (vnode.type === 'bdi' && typeof props.children === 'string') {
      props.children = withoutTurns(props.children)
    }
  }
}
