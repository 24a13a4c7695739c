import type { RunResult } from '#chain/engine'
import type { RunJournal } from '#chain/run-journal'
import { walkResult } from '#chain/step-result'
import type { ChainProject } from './chains.ts'
import { recordedTree } from './work-tree.ts'

/** Returns the steps that succeeded on other files than the working tree has now, by a script or a check. */
export function stepsOnOtherFiles(
  { workspace, context }: Pick<ChainProject, 'workspace' | 'context'>,
  journal: RunJournal,
  result: RunResult,
): string[] {
  const trees = walkResult(result).flatMap(({ key, step: { step, status, evidence } }) => {
    const tree = journal.done.get(key)?.tree
    const isProven = status === 'success' && evidence !== null && evidence !== 'self-reported'
    return tree !== undefined && isProven ? [{ step, tree }] : []
  })
  if (trees.length === 0) return []
  const now = recordedTree(workspace, context.runtime)
  if (now === undefined || 'problem' in now) return []
  return trees.filter(({ tree }) => tree !== now.tree).map(({ step }) => step)
}
