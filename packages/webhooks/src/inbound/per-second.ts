/** Limits how many of a kind pass in a second. A sender must not be able to choose the kind. */
export class PerSecond {
  #most: number
  #second = 0
  #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  allows(kind: string): boolean {
    const second = Math.floor(Date.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#counts.clear()
    }
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    return count <= this.#most
  }
}
