import type { ProjectAnswer, TextAnswer } from './common.ts'
import type { RunAnswer, RunsAnswer } from './run.ts'
import type {
  AuditAnswer,
  ChainsAnswer,
  MatchAnswer,
  PlanAnswer,
  SkillAnswer,
  SkillsAnswer,
} from './skill.ts'
import type {
  RouteAnswer,
  SessionAnswer,
  SessionsAnswer,
  ToolAnswer,
  ToolsAnswer,
  WorkflowsAnswer,
} from './tool.ts'

/** What the page gets, by the name of the question. */
export interface Answers {
  project: ProjectAnswer
  skills: SkillsAnswer
  skill: SkillAnswer
  'skill-text': TextAnswer
  audit: AuditAnswer
  match: MatchAnswer
  chains: ChainsAnswer
  plan: PlanAnswer
  runs: RunsAnswer
  run: RunAnswer
  'step-text': TextAnswer
  tools: ToolsAnswer
  tool: ToolAnswer
  route: RouteAnswer
  workflows: WorkflowsAnswer
  sessions: SessionsAnswer
  session: SessionAnswer
}
