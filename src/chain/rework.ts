import {
  allSteps,
  isChain,
  type PlannedChain,
  stepLabel,
  stepOfKey,
  unitsOf,
} from './plan-model.ts'
import type { RunJournal } from './run-journal.ts'

/**
 * Returns the keys of results that a rejection made void. The results count until the journal has a record
 * of the next round.
 */
export function voidKeys(
  journal: Pick<RunJournal, 'plan' | 'done' | 'started' | 'gates' | 'handed'>,
): ReadonlySet<string> {
  const { plan, done, started, gates, handed } = journal
  const rejections = [...done].flatMap(([key, { outcome }]) => {
    const isRejected = outcome.kind === 'finished' && outcome.rejected === true && !outcome.chain
    const place = isRejected ? placeOf(key) : undefined
    return place ? [place] : []
  })
  if (rejections.length === 0) return new Set()
  const begun = [...done.keys(), ...started.keys(), ...gates.keys(), ...handed.keys()]
  const places = begun.flatMap((key) => placesOn(key))
  const isVoid = (place: Place): boolean =>
    rejections.some((rejection) => {
      const isSame = rejection.attempt === place.attempt
      if (!isSame || place.round > rejection.round) return false
      const isContinued = places.some(
        (one) => one.attempt === place.attempt && one.round > rejection.round,
      )
      return isContinued && isRedone(plan.root, rejection, place)
    })
  return new Set([...done.keys()].filter((key) => placesOn(key).some(isVoid)))
}

/** The step at one level of a key. */
interface Place {
  /** The attempt of the step's chain, with the attempts above: `1:nested/2`. */
  attempt: string
  round: number
  /** The full name of the step. */
  step: string
}

function placeOf(key: string): Place | undefined {
  const [, outerAttempts = '', attempt = '', round = '1'] =
    /^(.*\/|)(\d+)(?:\.\d+(?:\.(\d+))?)?:[^/]*$/s.exec(key) ?? []
  if (attempt === '') return undefined
  return { attempt: `${outerAttempts}${attempt}`, round: Number(round), step: stepOfKey(key) }
}

/** The step of a key and the chains above it. */
function placesOn(key: string): Place[] {
  const levels = key.split('/')
  return levels.flatMap((_level, index) => placeOf(levels.slice(0, index + 1).join('/')) ?? [])
}

/** Whether a rejection leads back to the other step's group or to an earlier one. */
function isRedone(root: PlannedChain, rejection: Place, { step }: Place): boolean {
  const chain = [root, ...allSteps(root).filter(isChain)].find(({ steps }) =>
    steps.some((one) => one.step === rejection.step),
  )
  if (!chain) return false
  const units = unitsOf(chain.steps, chain.policy)
  const target = chain.steps.find((one) => one.step === rejection.step)?.rework
  const first = units.findIndex((unit) => unit.some((one) => stepLabel(one) === target))
  return first !== -1 && units.slice(first).some((unit) => unit.some((one) => one.step === step))
}
