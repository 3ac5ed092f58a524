/**
 * What this process and the table of recipients know of circuits: the changes of this process reach the
 * table a moment later, and those of others are read from it.
 */
import type { RecipientLimits } from './recipient-limits.ts'

type Limits = Pick<RecipientLimits, 'open' | 'setCircuit'>

export class Circuits {
  #limits: Limits
  #isUnwritten: (recipient: string) => boolean
  #openedHere = new Set<string>()

  /** `isUnwritten`: whether a change of the recipient's circuit here is not in the table yet. */
  constructor(limits: Limits, isUnwritten: (recipient: string) => boolean) {
    this.#limits = limits
    this.#isUnwritten = isUnwritten
  }

  /** Recipients whose circuit this process has opened since it read the table last. */
  get openedHere(): ReadonlySet<string> {
    return this.#openedHere
  }

  /** An attempt of this process has opened or closed the circuit. */
  changed(recipient: string, isOpen: boolean): void {
    if (isOpen) this.#openedHere.add(recipient)
    else this.#openedHere.delete(recipient)
  }

  /** The table has been read: the circuits of these recipients are open. */
  adopt(open: ReadonlySet<string>): void {
    for (const recipient of this.#openedHere) {
      if (!this.#isUnwritten(recipient)) this.#openedHere.delete(recipient)
    }
    for (const recipient of this.#limits.open()) {
      if (!open.has(recipient)) this.#adopt(recipient, false)
    }
    for (const recipient of open) this.#adopt(recipient, true)
  }

  #adopt(recipient: string, isOpen: boolean): void {
    if (!this.#isUnwritten(recipient)) this.#limits.setCircuit(recipient, isOpen)
  }
}
