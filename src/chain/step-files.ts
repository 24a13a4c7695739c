import { sha256 } from '../base/index.ts'
import { dirname, join, resolve } from 'node:path'
import type { PlannedStep } from './plan-model.ts'

/** Where the files of a run are: beside its journal. */
export interface RunFiles {
  /** `SKILLRAIL_SCRATCH`: shared by the steps of the run. */
  scratch: string
  /** Files of single executions, removed when they end. */
  steps: string
}

export function runFiles(runsDirectory: string, runId: string): RunFiles {
  const base = join(runsDirectory, runId)
  return { scratch: join(base, 'scratch'), steps: join(base, 'steps') }
}

/**
 * Beginning of the paths of one execution's files. Keys contain characters that no file name may
 * have; the process makes it new, so that nothing an interrupted execution left is taken for ours.
 */
export function executionFiles(files: RunFiles, key: string): string {
  const name = sha256(key).slice(7, 23)
  return join(files.steps, `${name}-${process.pid}`)
}

/** The directory of a planned skill. A plan belongs to one workspace, so it is resolved once. */
export function skillDirectory(workspace: string, step: PlannedStep): string {
  const known = directories.get(step)
  if (known?.workspace === workspace) return known.directory
  const directory = dirname(resolve(workspace, step.path))
  directories.set(step, { workspace, directory })
  return directory
}

const directories = new WeakMap<PlannedStep, { workspace: string; directory: string }>()
