// Means and their uncertainty, the same on every run.

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Numbers from 0 to 1 that are the same on every run (Mulberry32). */
export function randomNumbers(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** The mean difference of pairs and its 95 % interval, by bootstrap over the pairs. */
export function pairedDifference(ours, theirs, rounds = 2000) {
  const differences = ours.map((value, at) => value - theirs[at])
  const random = randomNumbers(1)
  const means = Array.from({ length: rounds }, () => {
    let sum = 0
    for (let n = 0; n < differences.length; n++) {
      sum += differences[Math.floor(random() * differences.length)]
    }
    return sum / differences.length
  }).toSorted((a, b) => a - b)
  return {
    mean: mean(differences),
    low: means[Math.floor(rounds * 0.025)],
    high: means[Math.ceil(rounds * 0.975) - 1],
  }
}

/** Each position's fold, of `count`, by a shuffle that is the same on every run. */
export function foldsOf(length, count) {
  const random = randomNumbers(7)
  const order = Array.from({ length }, (_, at) => ({ at, key: random() })).toSorted(
    (a, b) => a.key - b.key,
  )
  const folds = []
  order.forEach(({ at }, place) => (folds[at] = place % count))
  return { folds, order: order.map(({ at }) => at) }
}
