import type { StepStatus } from '#exec/output-protocol'
import type { ChainPolicy } from '#skill/model'
import { isChain, type PlannedChain, type PlannedStep, stepLabel, unitsOf } from './plan-model.ts'
import { conditionHolds, endsChainAfter, stepInCondition, type StepEnd } from './policy.ts'

/** How an executed step can end. A rejected gate counts as a failure that ends the whole run. */
export interface PossibleEnd {
  status: StepStatus
  isRejected: boolean
}

export interface ChainReach {
  /** The steps of this chain, not those of nested ones, that start for at least one outcome. */
  started: ReadonlySet<PlannedStep>
  ends: readonly PossibleEnd[]
}

/**
 * Walks through a chain once for every outcome that its steps can have; `runChain` does that for one
 * outcome. Outcomes that no later step can distinguish are one state, so the number of states stays
 * small. Beyond a limit, conditions count as both true and false: a step may then count as one that can
 * start although it cannot, and never the reverse.
 */
export function reachOf(chain: PlannedChain): ChainReach {
  const units = unitsOf(chain.steps, chain.policy)
  const walk: Walk = {
    chain,
    started: new Set(),
    unstarted: new Map(),
    ends: new Map(),
    lastUse: lastUses(units),
  }
  let states: readonly State[] = [start]
  for (const [index, unit] of units.entries()) {
    const isParallel = unit.length > 1 || chain.policy.async
    const nextStates = states.flatMap((state) =>
      dueSteps(walk, unit, state)
        .flatMap((due) => {
          const ends = unitEnds(walk, due, isParallel)
          markUnstarted(walk, unit, due, ends)
          return ends
        })
        .map((end) => settleState(walk, end, state, index)),
    )
    states = limitStates(distinct(nextStates))
  }
  return { started: walk.started, ends: chainEnds(chain, walk, states) }
}

/** Returns how a step can end once it has started, apart from the answer to its own gate. */
export function possibleEnds(step: PlannedStep, policy: ChainPolicy): readonly PossibleEnd[] {
  if (!isChain(step)) return taskEnds
  const { ends } = reachOf(step)
  const mayTakeTooLong = (step.timeout ?? policy.timeout) > 0
  const mayBeRefused = step.verify !== undefined && ends.some(({ status }) => status === 'success')
  return mayTakeTooLong || mayBeRefused ? withFailure(ends) : ends
}

const taskEnds = (['success', 'failure', 'critical'] as const).map((status) => ({
  status,
  isRejected: false,
}))

const rejection: PossibleEnd = { status: 'failure', isRejected: true }

function withFailure(ends: readonly PossibleEnd[]): readonly PossibleEnd[] {
  const canFail = ends.some(({ status, isRejected }) => status === 'failure' && !isRejected)
  return canFail ? ends : [...ends, { status: 'failure', isRejected: false }]
}

function chainEnds(chain: PlannedChain, walk: Walk, states: readonly State[]) {
  const { raceMode, retryUntil } = chain.policy
  const ends = states.map(({ end, worst }): PossibleEnd => {
    const isLostRace = raceMode && end !== 'won' && worst !== undefined
    return { status: isLostRace ? 'failure' : (worst ?? 'success'), isRejected: end === 'rejected' }
  })
  const different = [...new Map(ends.map((end) => [JSON.stringify(end), end])).values()]
  const countedSteps = chain.steps.filter(({ allowFailure }) => allowFailure !== true)
  const canDiffer = countedSteps.some((step) => resultCanDiffer(walk, step))
  return retryUntil === 'stable' && canDiffer ? withFailure(different) : different
}

/**
 * Whether two attempts can differ in the result of a step. The result of a step that never starts
 * differs too, if a condition skips it in one attempt and the end of the chain prevents it in another.
 */
function resultCanDiffer({ started, unstarted }: Walk, step: PlannedStep): boolean {
  if (started.has(step)) return !isChain(step) || step.steps.length > 0
  return (unstarted.get(step)?.size ?? 0) > 1
}

interface Walk {
  chain: PlannedChain
  started: Set<PlannedStep>
  /** The statuses that a step has when it does not start. Correct only for steps that never start. */
  unstarted: Map<PlannedStep, Set<UnstartedStatus>>
  ends: Map<PlannedStep, readonly PossibleEnd[]>
  /** The last unit with a condition about a step, by the name of the step. */
  lastUse: ReadonlyMap<string, number>
}

/** What earlier steps pass to later ones. */
interface State {
  end: StepEnd | undefined
  /** The worst status that counts for the chain; undefined before the first one. */
  worst: StepStatus | undefined
  /** The statuses of the steps that later conditions name, by name. `any`: no longer recorded. */
  statuses: ReadonlyMap<string, SlotStatus>
}

type UnstartedStatus = 'skipped' | 'not_run'

type SlotStatus = StepStatus | 'skipped' | 'cancelled' | 'any'

const start: State = { end: undefined, worst: undefined, statuses: new Map() }

function lastUses(units: readonly (readonly PlannedStep[])[]): Map<string, number> {
  const last = new Map<string, number>()
  for (const [index, unit] of units.entries()) {
    for (const { when } of unit) if (when !== undefined) last.set(stepInCondition(when), index)
  }
  return last
}

interface Due {
  queue: readonly PlannedStep[]
  state: State
}

/** Returns the steps of a unit that may start: several answers if a status is no longer recorded. */
function dueSteps({ chain }: Walk, unit: readonly PlannedStep[], state: State): readonly Due[] {
  let answers: readonly Due[] = [{ queue: [], state }]
  for (const step of unit) {
    if (step.excluded || !mayStart(step, state.end)) continue
    answers = answers.flatMap((due) =>
      conditionValues(step, chain, due.state).map((isTrue) =>
        isTrue ? { ...due, queue: [...due.queue, step] } : due,
      ),
    )
  }
  return answers
}

function conditionValues(
  { when }: PlannedStep,
  { steps }: PlannedChain,
  { statuses }: State,
): readonly boolean[] {
  if (when === undefined) return [true]
  const conditionStep = stepInCondition(when)
  const isStep = steps.some((step) => stepLabel(step) === conditionStep)
  const status = (isStep && statuses.get(conditionStep)) || 'skipped'
  return status === 'any' ? [true, false] : [conditionHolds(when, status)]
}

function mayStart({ always }: PlannedStep, end: StepEnd | undefined): boolean {
  return end === undefined || always === true
}

/**
 * The progress through a unit, in the order in which its steps start. `stops` decides beforehand
 * whether one of its steps ends the chain, and whether that cancels the parallel steps.
 */
interface Progress {
  state: State
  stops: 'never' | 'cancelling' | 'letting-finish'
  hasStopped: boolean
  /** Counts the steps that had not finished when the chain ended, including the one that ended it. */
  places: number
  /** The chain ended before the rest of the queue had a place. */
  isQueueCut: boolean
  /** A step still waits, which is possible only after a rejected gate. */
  leavesWaiting: boolean
}

function unitEnds(walk: Walk, due: Due, isParallel: boolean): readonly State[] {
  const { queue, state } = due
  if (state.end !== undefined) return lateEnds(walk, due)
  const { async: isAsync, parallelLimit } = walk.chain.policy
  const limit = isParallel ? parallelLimit : 1
  // All gates of a group are answered before any of it starts.
  const hasGatesFirst = !isAsync && queue.length > 1
  const first = { state, hasStopped: false, places: 0, isQueueCut: false, leavesWaiting: false }
  const kinds = ['never', 'cancelling', 'letting-finish'] as const
  const begun = kinds.map((stops) => ({ progress: { ...first, stops }, ways: [] }))
  let layer: Layer = new Map(begun.map((node) => [keyOfProgress(node.progress), node]))
  for (const step of queue) {
    const body = endsOf(walk, step)
    const ends = step.gate !== undefined && !hasGatesFirst ? [...body, rejection] : body
    layer = nextLayer(walk, { step, ends, limit }, layer)
  }
  const endNodes = [...layer.values()].filter(({ progress }) => isPossible(progress, limit))
  markStarted(walk, queue, endNodes)
  const states = endNodes.map(({ progress }) => progress.state)
  return hasGatesFirst ? [...states, ...rejectedGroup(walk, due)] : states
}

function isPossible(progress: Progress, limit: number): boolean {
  const { stops, hasStopped, isQueueCut, places, leavesWaiting, state } = progress
  if (leavesWaiting && state.end !== 'rejected') return false
  return (stops === 'never' || hasStopped) && (!isQueueCut || places === limit)
}

/** The possible progress after a step of the queue, by key, with the ways that lead there. */
type Layer = ReadonlyMap<string, Node>

interface Node {
  progress: Progress
  ways: { from: Node; starts: boolean }[]
}

function nextLayer(walk: Walk, candidate: Candidate, previousLayer: Layer): Layer {
  const layer = new Map<string, Node>()
  for (const from of previousLayer.values()) {
    for (const { starts, progress } of stepEnds(walk, candidate, from.progress)) {
      const key = keyOfProgress(progress)
      const node = layer.get(key) ?? { progress, ways: [] }
      node.ways.push({ from, starts })
      layer.set(key, node)
    }
  }
  return layer
}

/** Walks back from the possible ends. A step that starts only on other ways never starts. */
function markStarted(walk: Walk, queue: readonly PlannedStep[], endNodes: readonly Node[]): void {
  let nodes: ReadonlySet<Node> = new Set(endNodes)
  for (const step of queue.toReversed()) {
    const ways = [...nodes].flatMap((node) => node.ways)
    if (ways.some(({ starts }) => starts)) walk.started.add(step)
    nodes = new Set(ways.map(({ from }) => from))
  }
}

/** Rejected attempts are left out: the run ends with them, so nothing is compared with them. */
function markUnstarted(
  { unstarted }: Walk,
  unit: readonly PlannedStep[],
  due: Due,
  endStates: readonly State[],
): void {
  const comparedStates = endStates.filter(({ end }) => end !== 'rejected')
  for (const step of unit) {
    if (step.excluded) continue
    const statuses = comparedStates.map((endState) => unstartedStatus(step, due, endState))
    unstarted.set(step, new Set([...(unstarted.get(step) ?? []), ...statuses]))
  }
}

function unstartedStatus(
  step: PlannedStep,
  { queue, state }: Due,
  endState: State,
): UnstartedStatus {
  const isDue = queue.includes(step)
  if (!isDue && mayStart(step, state.end)) return 'skipped'
  const { end } = isDue ? endState : state
  return end === 'skipped' ? 'skipped' : 'not_run'
}

/** After the end of the chain, the queue contains only steps with `always`. */
function lateEnds(walk: Walk, { queue, state }: Due): readonly State[] {
  let states: readonly State[] = [state]
  for (const step of queue) {
    const ends = [...endsOf(walk, step), ...(step.gate ? [rejection] : [])]
    walk.started.add(step)
    const mayWait = state.end === 'rejected' && waitsForSomebody(step)
    states = distinct(
      states.flatMap((one) => [
        ...ends.map(({ status }) => withStatus(walk, one, step, status)),
        ...(mayWait ? [withSlot(walk, one, step, 'cancelled')] : []),
      ]),
    )
  }
  return states
}

/** A gate of a group is rejected: the other gates wait or were answered, and nothing has started. */
function rejectedGroup(walk: Walk, { queue, state }: Due): readonly State[] {
  return queue
    .filter(({ gate }) => gate !== undefined)
    .flatMap((rejectedStep) => {
      let states: readonly State[] = [{ ...state, end: 'rejected' }]
      for (const step of queue) {
        states = distinct(states.flatMap((one) => besideRejected(walk, one, step, rejectedStep)))
      }
      return states
    })
}

function besideRejected(
  walk: Walk,
  state: State,
  step: PlannedStep,
  rejectedStep: PlannedStep,
): readonly State[] {
  if (step === rejectedStep) return [withStatus(walk, state, step, rejection.status)]
  if (step.always) return lateEnds(walk, { queue: [step], state })
  return step.gate ? [state, withSlot(walk, state, step, 'cancelled')] : [state]
}

interface Candidate {
  step: PlannedStep
  ends: readonly PossibleEnd[]
  limit: number
}

interface NextProgress {
  progress: Progress
  starts: boolean
}

/** Returns every way in which the next step of the queue can continue the progress. */
function stepEnds(
  walk: Walk,
  candidate: Candidate,
  earlierProgress: Progress,
): readonly NextProgress[] {
  const { step, limit } = candidate
  const hasPlace = !earlierProgress.isQueueCut && earlierProgress.places < limit
  const startedProgress = hasPlace
    ? [
        ...endedByItself(walk, candidate, earlierProgress),
        ...openAtTheEnd(walk, candidate, earlierProgress),
      ]
    : []
  const late =
    earlierProgress.stops === 'never' ? [] : afterTheEnd(walk, candidate, earlierProgress)
  return [
    ...startedProgress.map((progress) => ({ progress, starts: true })),
    ...late.map((progress) => ({ progress, starts: step.always === true })),
  ]
}

/** The step ends before the chain does, or ends the chain. */
function endedByItself(
  walk: Walk,
  { step, ends }: Candidate,
  progress: Progress,
): readonly Progress[] {
  return ends.flatMap((end) => {
    const state = withStatus(walk, progress.state, step, end.status)
    const chainEnd = endsChainAfter(walk.chain.policy, step, end)
    if (chainEnd === undefined) return [{ ...progress, state }]
    if (progress.hasStopped || progress.stops !== kindOf(chainEnd)) return []
    return placesWith(step, progress).map((places) => {
      return { ...progress, state: { ...state, end: chainEnd }, hasStopped: true, places }
    })
  })
}

/** The step runs or waits when the chain ends. */
function openAtTheEnd(
  walk: Walk,
  { step, ends }: Candidate,
  progress: Progress,
): readonly Progress[] {
  if (progress.stops === 'never') return []
  const isFinishing = step.always === true || progress.stops === 'letting-finish'
  const states = isFinishing
    ? ends.map(({ status }) => withStatus(walk, progress.state, step, status))
    : cancelledSlots.map((status) => withSlot(walk, progress.state, step, status))
  const over = states.flatMap((state) =>
    placesWith(step, progress).map((places) => ({ ...progress, state, places })),
  )
  return isFinishing && waitsForSomebody(step)
    ? [...over, ...leftWaiting(walk, step, progress)]
    : over
}

/** The step has `always`, and still waits when another gate is rejected. */
function leftWaiting(walk: Walk, step: PlannedStep, progress: Progress): readonly Progress[] {
  const state = withSlot(walk, progress.state, step, 'cancelled')
  return placesWith(step, progress).map((places) => ({
    ...progress,
    state,
    places,
    leavesWaiting: true,
  }))
}

/** A step that is cancelled before its work has begun counts as not run, like a skipped one. */
const cancelledSlots = ['cancelled', 'skipped'] as const

/** The step had no place when the chain ended. */
function afterTheEnd(
  walk: Walk,
  { step, ends }: Candidate,
  progress: Progress,
): readonly Progress[] {
  if (!step.always) return [{ ...progress, isQueueCut: true }]
  return ends.map(({ status }) => {
    const state = withStatus(walk, progress.state, step, status)
    return { ...progress, state, isQueueCut: true }
  })
}

/** A step that waits can leave its place to another one. */
function placesWith(step: PlannedStep, { places }: Progress): readonly number[] {
  return waitsForSomebody(step) ? [places, places + 1] : [places + 1]
}

function kindOf(end: StepEnd): Progress['stops'] {
  return end === 'skipped' ? 'letting-finish' : 'cancelling'
}

function endsOf(walk: Walk, step: PlannedStep): readonly PossibleEnd[] {
  const ends = walk.ends.get(step) ?? possibleEnds(step, walk.chain.policy)
  walk.ends.set(step, ends)
  return ends
}

function waitsForSomebody(step: PlannedStep): boolean {
  if (step.gate !== undefined || step.executor === 'driven') return true
  return isChain(step) && step.steps.some(waitsForSomebody)
}

function withStatus(walk: Walk, state: State, step: PlannedStep, status: StepStatus): State {
  const counts = step.allowFailure !== true
  const worst = counts ? worse(state.worst, status) : state.worst
  return withSlot(walk, { ...state, worst }, step, status)
}

function withSlot(walk: Walk, state: State, step: PlannedStep, status: SlotStatus): State {
  const label = stepLabel(step)
  if (!walk.lastUse.has(label)) return state
  // Conditions do not distinguish critical from failure.
  const slot = status === 'critical' ? 'failure' : status
  return { ...state, statuses: new Map([...state.statuses, [label, slot]]) }
}

const severities: readonly StepStatus[] = ['success', 'failure', 'critical']

function worse(earlierStatus: StepStatus | undefined, status: StepStatus): StepStatus {
  if (earlierStatus === undefined) return status
  return severities.indexOf(status) > severities.indexOf(earlierStatus) ? status : earlierStatus
}

/** Forgets, at the end of a unit, all that no later step can distinguish. */
function settleState({ lastUse }: Walk, state: State, earlierState: State, index: number): State {
  const statuses = new Map(
    [...state.statuses].filter(([name]) => (lastUse.get(name) ?? -1) > index),
  )
  // After an early success, only the steps that still ran count.
  const isEarly =
    earlierState.end === undefined && (state.end === 'succeeded' || state.end === 'won')
  return { ...state, worst: isEarly ? undefined : state.worst, statuses }
}

const maxStates = 4096

function limitStates(states: readonly State[]): readonly State[] {
  if (states.length <= maxStates) return states
  const statesWithoutStatuses = states.map((state) => {
    const statuses = new Map([...state.statuses.keys()].map((name) => [name, 'any' as const]))
    return { ...state, statuses }
  })
  return distinct(statesWithoutStatuses)
}

function distinct(states: readonly State[]): State[] {
  return [...new Map(states.map((state) => [keyOf(state), state])).values()]
}

function keyOf({ end, worst, statuses }: State): string {
  return JSON.stringify([end, worst, [...statuses].toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

function keyOfProgress(progress: Progress): string {
  const { state, stops, hasStopped, places, isQueueCut, leavesWaiting } = progress
  return `${keyOf(state)} ${stops} ${hasStopped} ${places} ${isQueueCut} ${leavesWaiting}`
}
