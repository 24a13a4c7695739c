import { dirname } from 'node:path'
import { type Diagnostic, reasonOf } from '../base/index.ts'
import { removeTree } from './_remove-tree.ts'
import type { RunFiles } from './step-files.ts'

/**
 * Removes the files of a run that has ended: those of its steps, or all.
 *
 * @returns what is wrong where some stay: the run has ended, and its result counts.
 */
export function cleanUp(runId: string, files: RunFiles, all: boolean): Diagnostic | undefined {
  const path = all ? dirname(files.scratch) : files.steps
  try {
    removeTree(path)
    return undefined
  } catch (error) {
    return {
      code: 'run-files-left',
      severity: 'warning',
      message: `the files of the run ${runId} could not all be removed: ${reasonOf(error)}`,
      path,
      hint: 'A program that a step has left in the background may still write there. Delete them when it has ended.',
    }
  }
}
