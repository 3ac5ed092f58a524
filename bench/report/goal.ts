/** What a row should reach: of its ratio to another row, or of its own figure. */
export type Goal =
  | { ratioAtLeast: number; aim?: number }
  | { ratioAtMost: number }
  | { atMost: number }
  | { atLeast: number }

export function goalText(goal: Goal): string {
  if ('ratioAtLeast' in goal) {
    const aim = goal.aim === undefined ? '' : `, aim ${goal.aim}`
    return `ratio ≥ ${goal.ratioAtLeast}${aim}`
  }
  if ('ratioAtMost' in goal) return `ratio ≤ ${goal.ratioAtMost}`
  return 'atMost' in goal ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`
}

/** Judged as it is printed: by the median. */
export function isReached(goal: Goal, median: number, ratio: number | undefined): boolean {
  if ('ratioAtLeast' in goal) return ratio !== undefined && ratio >= goal.ratioAtLeast
  if ('ratioAtMost' in goal) return ratio !== undefined && ratio <= goal.ratioAtMost
  return 'atMost' in goal ? median <= goal.atMost : median >= goal.atLeast
}
