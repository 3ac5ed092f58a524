/** What a benchmark has opened: closed last one first, each, whatever happens to the others. */
export class Scope {
  #open: { stop(): Promise<void> }[] = []

  owns<Thing extends { stop(): Promise<void> }>(thing: Thing): Thing {
    this.#open.push(thing)
    return thing
  }

  async close(): Promise<void> {
    for (const thing of this.#open.splice(0).toReversed()) {
      await thing.stop().catch((error: Error) => console.error(`! ${error.message}`))
    }
  }
}
