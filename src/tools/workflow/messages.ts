import { amount } from '../../core/text.ts'
import type { NotInstalled } from './match.ts'
import type { WorkflowDefinition } from './model.ts'
import type { PlannedStep } from './plan.ts'

type NamedStep = Pick<PlannedStep, 'step' | 'tool' | 'description'>

export function triggeredLine(name: string, count: number): string {
  return `Workflow '${name}' triggered. Running ${amount(count, 'prerequisite')}...`
}

export function completedLine(step: number, tool: string): string {
  return `✓ Step ${step}: ${tool} completed`
}

export function leftOutLine(step: number, tool: string, reason: string): string {
  return `- Step ${step}: ${tool} left out: ${reason}`
}

export function multipleLine(name: string, also: readonly string[]): string {
  const others = also.map((other) => `'${other}'`).join(', ')
  return `Multiple workflows matched. Using '${name}'. Also matched: ${others}`
}

export function notInstalledLine({ workflow, missing }: NotInstalled): string {
  return `Workflow '${workflow}' is not enforced: no server here has ${missing.join(', ')}`
}

export function warningText(workflow: WorkflowDefinition, steps: readonly NamedStep[]): string {
  return `Workflow '${workflow.name}' warns: these prerequisites are missing\n${list(steps)}`
}

export function suggestionText(workflow: WorkflowDefinition, steps: readonly NamedStep[]): string {
  return `Workflow '${workflow.name}' suggests to run first\n${list(steps)}`
}

export const noWorkflowsText = 'No workflows defined. Use `skillrail workflow add` to create one.'

export function listLines(workflow: WorkflowDefinition): string[] {
  const { name, enabled, mode, description, triggers, prerequisites } = workflow
  return [
    enabled ? `✓ ${name} [${mode}]` : `○ ${name} [disabled]`,
    `  ${description}`,
    `  Triggers: ${triggerText(triggers)}`,
    `  Prerequisites: ${amount(prerequisites.length, 'step')}`,
  ]
}

export function triggerText(triggers: WorkflowDefinition['triggers']): string {
  const { server, category, tools, changes, keywords } = triggers
  const parts = [
    server === undefined ? undefined : `server=${server}`,
    category === undefined ? undefined : `category=${category}`,
    tools === undefined ? undefined : `tools=[${tools.join(', ')}]`,
    changes === true ? 'changes' : undefined,
    keywords === undefined ? undefined : `keywords=[${keywords.join(', ')}]`,
  ]
  return parts.filter((part) => part !== undefined).join(', ') || 'none'
}

function list(steps: readonly NamedStep[]): string {
  return steps.map(({ step, tool, description }) => `  ${step}. ${tool}: ${description}`).join('\n')
}
