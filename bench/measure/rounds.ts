/** What one turn of a contender gave, by the name of the figure. */
export type Figures = Record<string, number>

export interface Contender {
  name: string
  measure(): Promise<Figures>
}

export interface Plan {
  /** Turns of each contender that are thrown away: caches, plans and the compiler warm up. */
  warmUps: number
  rounds: number
  tell?: (text: string) => void
}

/**
 * Lets the contenders take turns: the machine drifts over minutes, and neighbours in time share its
 * moods. Who goes first changes from round to round.
 *
 * @returns for each contender its figures, one entry a round
 */
export async function interleave(
  contenders: readonly Contender[],
  { warmUps, rounds, tell }: Plan,
): Promise<Map<string, Figures[]>> {
  const measured = new Map<string, Figures[]>(contenders.map(({ name }) => [name, []]))
  for (let round = -warmUps; round < rounds; round++) {
    tell?.(round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`)
    for (const contender of rotated(contenders, round + warmUps)) {
      const figures = await contender.measure()
      if (round >= 0) measured.get(contender.name)?.push(figures)
    }
  }
  return measured
}

/** The samples of one figure. */
export function samplesOf(
  measured: Map<string, Figures[]>,
  contender: string,
  figure: string,
): number[] {
  return (measured.get(contender) ?? []).map((figures) => figures[figure] ?? Number.NaN)
}

export function rotated<Item>(items: readonly Item[], by: number): Item[] {
  const start = items.length === 0 ? 0 : by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
