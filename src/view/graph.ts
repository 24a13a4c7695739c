import {
  executionWords,
  executorWords,
  isChain,
  type PlannedChain,
  type PlannedStep,
  stepLabel,
  unitsOf,
} from '../chain/plan-model.ts'

/** The steps of a chain from first to last; those in one unit run in parallel. */
export type Graph = readonly (readonly GraphNode[])[]

export type GraphNode = Omit<ReturnType<typeof nodeFacts>, 'inner'> & {
  /** The steps of a nested chain. */
  inner?: Graph | undefined
}

export function graphOf({ steps, policy }: Pick<PlannedChain, 'steps' | 'policy'>): Graph {
  return unitsOf(steps, policy).map((unit) =>
    unit.map((step) => ({ ...nodeFacts(step), inner: isChain(step) ? graphOf(step) : undefined })),
  )
}

function nodeFacts(planned: PlannedStep) {
  const { step, skill, path, trust, digest, tokens } = planned
  return {
    step,
    label: stepLabel(planned),
    skill,
    path,
    trust,
    digest,
    tokens,
    by: isChain(planned) ? 'chain' : executorWords(planned),
    /** Its gate, conditions and limits, in the words of the file. */
    words: executionWords(planned),
  }
}
