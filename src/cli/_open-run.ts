import { type Plan, planChanged, type RunJournal } from '../chain/index.ts'
import { type ChainProject, planKept, usablePlan } from './_chain-project.ts'

/** The journal of a run; what is wrong with it, such as a torn last line, is said on standard error. */
export function openRun({ store, context }: ChainProject, runId: string): RunJournal {
  const journal = store.read(runId)
  context.output.diagnostics(journal.diagnostics)
  return journal
}

/**
 * The plan of a run as it is now, to go on with. Before anybody is asked anything or a sandbox is
 * looked for, it is refused where it is another one.
 */
export function planToGoOn(
  project: ChainProject,
  { run, plan: before, status }: RunJournal,
  command: 'resume' | 'approve',
  force = false,
): Plan {
  const plan = usablePlan(planKept(project, run))
  // Of a run that has ended that is said instead, and a server says itself what waits there.
  const isOpen = status !== 'failure' && status !== 'critical' && run.server === undefined
  const change = isOpen ? planChanged(run.runId, before, plan, command) : undefined
  if (change !== undefined && !force) throw change
  return plan
}
