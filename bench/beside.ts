/** The table that compares this checkout with that of `--beside`. */
import type { Bench, Finding } from './benchmark.ts'
import { rowsOf, type Measured } from './measure.ts'

/** A change may cost a webhook that uses nothing of it 3 %. */
const GOAL = { ratioAtLeast: 0.97 }

/** @returns one table, or none where no other checkout was measured */
export function besideOther(
  bench: Bench,
  measured: Measured,
  name: string,
  figure: string,
  about: Omit<Finding, 'rows'>,
): Finding[] {
  const other = bench.checkouts.find(({ mark }) => mark !== '')
  if (!other) return []
  const against = `${name}${other.mark}`
  const rows = rowsOf(measured, figure, {
    names: [against, name],
    against,
    goals: { [name]: GOAL },
  })
  return [{ ...about, title: `${about.title}, beside the other checkout`, rows }]
}
