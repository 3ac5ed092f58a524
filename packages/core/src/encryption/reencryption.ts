import { InvalidOption } from '../errors.ts'
import type { Cipher } from './key-ring.ts'

/** Returns how many rows it has encrypted again. */
type ReencryptionTask = () => Promise<number>

/** `svc.reencrypt`: the tasks of the packages, one after the other. */
export class Reencryption {
  #cipher: Cipher
  #tasks: ReencryptionTask[] = []

  constructor(cipher: Cipher) {
    this.#cipher = cipher
  }

  add(task: ReencryptionTask): void {
    this.#tasks.push(task)
  }

  /** @throws InvalidOption, DecryptionFailed */
  async run(): Promise<{ reencrypted: number }> {
    if (!this.#cipher.isEnabled) {
      throw new InvalidOption('svc.reencrypt: svcCore needs the option "encryption"')
    }
    let reencrypted = 0
    for (const task of this.#tasks) reencrypted += await task()
    return { reencrypted }
  }
}
