/**
 * A map of bounded size that drops the entries that were not used lately. It has two generations
 * instead of a list of uses: a hit in the young one costs one lookup.
 */
export class BoundedMap<Value> {
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()
  readonly #half: number

  /** Keeps at most `size` entries. */
  constructor(size: number) {
    this.#half = Math.ceil(size / 2)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: string): Value | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const aged = this.#old.get(key)
    if (aged !== undefined) this.set(key, aged)
    return aged
  }

  set(key: string, value: Value): void {
    this.#old.delete(key)
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}
