/**
 * What this process and the table of groups know of circuits: the changes of this process reach the
 * table a moment later, and those of others are read from it.
 */
import type { GroupLimits } from './group-limits.ts'

type Limits = Pick<GroupLimits, 'open' | 'setCircuit'>

export class Circuits {
  #limits: Limits
  #isUnwritten: (group: string) => boolean
  #openedHere = new Set<string>()

  /** `isUnwritten`: whether a change of the group's circuit here is not in the table yet. */
  constructor(limits: Limits, isUnwritten: (group: string) => boolean) {
    this.#limits = limits
    this.#isUnwritten = isUnwritten
  }

  /** Groups whose circuit this process has opened since it read the table last. */
  get openedHere(): ReadonlySet<string> {
    return this.#openedHere
  }

  /** An attempt of this process has opened or closed the circuit. */
  changed(group: string, isOpen: boolean): void {
    if (isOpen) this.#openedHere.add(group)
    else this.#openedHere.delete(group)
  }

  /** The table has been read: the circuits of these groups are open. */
  adopt(open: ReadonlySet<string>): void {
    for (const group of this.#openedHere) {
      if (!this.#isUnwritten(group)) this.#openedHere.delete(group)
    }
    for (const group of this.#limits.open()) {
      if (!open.has(group)) this.#adopt(group, false)
    }
    for (const group of open) this.#adopt(group, true)
  }

  #adopt(group: string, isOpen: boolean): void {
    if (!this.#isUnwritten(group)) this.#limits.setCircuit(group, isOpen)
  }
}
