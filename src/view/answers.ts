import type { ListedRun } from '#chain/listed-run'
import type { Diagnostic } from '#core/errors'
import type { HookTrace } from '#hooks/trace'
import type { ExplainedMatch } from '#project/injection'
import type { ListedSkill } from '#project/list-skills'
import type { ShownSkill, SkillFact } from '#project/show-skill'
import type { ParameterDescription } from '#tools/cache/describe-parameters'
import type { ToolCaution, ToolIndexLoading } from '#tools/cache/tool-index'
import type { ToolSummary } from '#tools/model'
import type { ServerRow } from '#tools/server/server-rows'
import type { ToolFacts } from '#tools/tool-facts'
import type { WorkflowListing } from '#tools/workflow/project-workflows'
import type { ActingKind } from '#trust/model'
import type { OverviewEntry, OverviewPart } from './overview.ts'
import type { TextAnswer } from './questions.ts'
import type { Graph, RunAnswer } from './run-answer.ts'

/** The answers that the page gets, by the name of the question. */
export interface Answers {
  project: { project: string; version: string }
  overview: OverviewAnswer
  skills: SkillsAnswer
  skill: SkillAnswer
  'skill-text': TextAnswer
  match: ExplainedMatch
  triggers: TriggersAnswer
  chains: { chains: ChainEntry[] }
  plan: PlanAnswer
  runs: RunsAnswer
  run: RunAnswer
  'step-text': TextAnswer
  decide: { approved: boolean }
  tools: ToolsAnswer
  tool: ToolAnswer
  workflows: WorkflowListing
}

/** The overview, with the place of the page that shows each entry. */
interface OverviewAnswer {
  workspace: string
  parts: (Omit<OverviewPart, 'entries'> & { tab: string; entries: PlacedEntry[] })[]
}

type PlacedEntry = OverviewEntry & { place: string[] }

interface SkillsAnswer {
  skills: SkillRow[]
  diagnostics: readonly Diagnostic[]
}

export interface SkillRow extends Omit<ListedSkill, 'trust' | 'scope' | 'clients' | 'standing'> {
  id: string
  scope?: ListedSkill['scope'] | undefined
  trust: ListedSkill['trust'] | 'broken'
  standing: NonNullable<ListedSkill['standing']> | 'used' | 'invalid' | 'broken'
  /** Titles of the clients that read the skill. */
  clients: string[]
}

interface SkillAnswer extends Omit<ShownSkill, 'clients'> {
  id: string
  facts: SkillFact[]
  /** Declarations and files that can execute. */
  acting: { kind: ActingKind; what: string }[]
  /** Titles of the clients that read the skill. */
  clients: string[]
}

interface TriggersAnswer {
  triggers: TriggerRow[]
  /** What the hook did in this project, newest first. */
  log: HookTrace[]
  /** The file of the log. */
  path: string
  diagnostics: readonly Diagnostic[]
}

export interface TriggerRow {
  skill: string
  /** The ID of the skill. */
  id: string
  on: string | undefined
  kind: string
  inject: string
}

export interface ChainEntry {
  id: string
  name: string
  description: string
  steps: number
  trust: ListedSkill['trust']
}

interface PlanAnswer {
  skill: string
  digest: string
  /** The fields that differ from their defaults. */
  policy: [field: string, value: string][]
  graph: Graph
  diagnostics: readonly Diagnostic[]
}

interface RunsAnswer {
  runs: ListedRun[]
  /** How many there are; `runs` are the newest of them. */
  total: number
  diagnostics: Diagnostic[]
}

interface ToolsAnswer extends Pick<ToolIndexLoading, 'state' | 'message'> {
  refreshedAt: string | undefined
  servers: ServerRow[]
  tools: (ToolSummary & { caution: ToolCaution['kind'] | undefined })[]
  diagnostics: readonly Diagnostic[]
}

interface ToolAnswer extends Omit<ToolFacts, 'caution'> {
  hints: string
  parameters: ParameterDescription[] | undefined
  caution: string | undefined
}
