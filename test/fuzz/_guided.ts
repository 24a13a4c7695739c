import type { Random } from '../skill/_fuzz-text.ts'
import { lengthen, mutate } from './_mutate.ts'

/** The bytes of the longest input that is stored, and of the longest possible input. */
export const keptInput = 4096
export const longestInput: number = 64 * 1024
/** The number of inputs with that length, which shows nonlinear work. */
const longChance = 0.0005
/** How many long inputs of each seed come first. */
const longEach = 4

export interface GuidedOptions {
  fuzz(data: Uint8Array): void
  seeds: readonly Uint8Array[]
  /** Those of which long inputs are made before anything else, so that short runs have some. */
  lengthened: readonly Uint8Array[]
  words: readonly Uint8Array[]
  /** One for every branch of the instrumented code. */
  counters: Uint8Array
  random: Random
  /** Asked between executions. */
  goesOn(): boolean
  /** Called with each input before its execution, which identifies an input that never ends. */
  onStart(data: Uint8Array): void
  /** Called with an input that reached a new branch. */
  onNew(data: Uint8Array): void
  onFind(find: { data: Uint8Array; error: unknown }): void
}

/**
 * Runs mutations of the inputs it knows; one that visits a branch that none visited, or one much
 * oftener, is kept and mutated in turn.
 */
export function runGuided(options: GuidedOptions): void {
  const { counters, random } = options
  const best = new Uint8Array(counters.length)
  const corpus: Uint8Array[] = []
  const fixture = {
    random,
    words: options.words,
    other: () => pickOf(corpus, random),
  }
  for (let round = 0; round < longEach; round++) {
    for (const seed of options.lengthened) {
      if (options.goesOn()) execute(lengthen(seed, { random, limit: longestInput }))
    }
  }
  for (const seed of options.seeds) execute(seed)
  if (corpus.length === 0) corpus.push(new Uint8Array())
  while (options.goesOn()) {
    execute(mutate(pickOf(corpus, random), { ...fixture, limit: limitOf(random) }))
  }

  function execute(data: Uint8Array): void {
    counters.fill(0)
    options.onStart(data)
    let error: unknown
    try {
      options.fuzz(data)
    } catch (thrown) {
      error = thrown ?? new Error('nothing was thrown')
    }
    if (error !== undefined) options.onFind({ data, error })
    else if (data.length <= keptInput && isNews(counters, best)) {
      corpus.push(data)
      options.onNew(data)
    }
  }
}

/** Short ones mostly: they are many times as fast. */
function limitOf(random: Random): number {
  if (random.chance(longChance)) return longestInput
  return random.chance(0.05) ? keptInput : 128 << random.below(3)
}

/** Prefers late inputs, since they reached the newest branches. */
function pickOf(corpus: readonly Uint8Array[], random: Random): Uint8Array {
  const late = random.chance(0.3) ? Math.min(corpus.length, 20) : corpus.length
  return corpus[corpus.length - 1 - random.below(late)] ?? new Uint8Array()
}

/** Whether a branch was visited in an order of magnitude that is new; remembers it. */
function isNews(counters: Uint8Array, best: Uint8Array): boolean {
  let news = false
  for (let index = 0; index < counters.length; index++) {
    const count = counters[index] ?? 0
    if (count === 0) continue
    const magnitude = 1 << Math.min(7, 31 - Math.clz32(count))
    const seen = best[index] ?? 0
    if ((seen & magnitude) === 0) {
      best[index] = seen | magnitude
      news = true
    }
  }
  return news
}
