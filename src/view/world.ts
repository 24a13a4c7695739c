import type { Diagnostic } from '../base/index.ts'
import type { RunJournal, RunResult } from '../chain/index.ts'
import type { ProjectAnswer } from './answers/common.ts'
import type { ListedRun } from './answers/run.ts'
import type {
  AuditAnswer,
  ChainsAnswer,
  MatchAnswer,
  PlanAnswer,
  SkillAnswer,
  SkillsAnswer,
} from './answers/skill.ts'
import type {
  RouteAnswer,
  SessionAnswer,
  SessionsAnswer,
  ToolAnswer,
  ToolsAnswer,
  WorkflowsAnswer,
} from './answers/tool.ts'

type Eventually<T> = T | Promise<T>

/**
 * What the view shows, asked of the project again with each question. No function changes anything,
 * starts anything or calls a tool. One that has no answer throws an error with a sentence.
 */
export interface ViewWorld {
  project(): Eventually<ProjectAnswer>
  skills(): Eventually<SkillsAnswer>
  /** `id` as the list of skills has it. */
  skill(id: string): Eventually<SkillAnswer>
  /** The `SKILL.md` as it stands on the disk. */
  skillText(id: string): Eventually<string>
  audit(id: string): Eventually<AuditAnswer>
  match(prompt: string): Eventually<MatchAnswer>
  chains(): Eventually<ChainsAnswer>
  plan(id: string): Eventually<PlanAnswer>
  /** The ids of all runs, the newest first. */
  runIds(): Eventually<readonly string[]>
  /** One of the list; what is wrong with it where it cannot be read. */
  runRow(runId: string): Eventually<ListedRun | Diagnostic>
  /** Changes whenever the run does. */
  runStamp(runId: string): Eventually<string>
  run(runId: string): Eventually<StandingRun>
  tools(): Eventually<ToolsAnswer>
  tool(id: string): Eventually<ToolAnswer>
  route(request: string): Eventually<RouteAnswer>
  workflows(): Eventually<WorkflowsAnswer>
  sessions(): Eventually<SessionsAnswer>
  session(id: string): Eventually<SessionAnswer>
}

/** A run as its journal has it. */
export interface StandingRun {
  journal: Pick<RunJournal, 'updatedAt' | 'done' | 'gates' | 'diagnostics'> & {
    run: Pick<RunJournal['run'], 'mode' | 'at' | 'arguments'>
  }
  result: RunResult
  /** How it stands now. */
  status: RunResult['status'] | 'running'
}
