/** The last step's calls with their results, and how many steps in a row were the same. */
export interface Repetition {
  signature: string
  count: number
}

interface AnsweredCall {
  name: string
  input: unknown
  text: string
}

/** Counts steps that made the same calls and got the same results as the one before. */
export function countRepetition(
  previous: Repetition | undefined,
  calls: readonly AnsweredCall[],
): Repetition {
  const signature = JSON.stringify(calls.map(({ name, input, text }) => [name, input, text]))
  return { signature, count: previous?.signature === signature ? previous.count + 1 : 1 }
}
