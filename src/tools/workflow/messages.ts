import { amount } from '../../core/text.ts'
import type { NotInstalled } from './match.ts'
import type { WorkflowDefinition } from './model.ts'

export function multipleLine(name: string, also: readonly string[]): string {
  const others = also.map((other) => `'${other}'`).join(', ')
  return `Multiple workflows matched. Using '${name}'. Also matched: ${others}`
}

export function notInstalledLine({ workflow, missing }: NotInstalled): string {
  return `Workflow '${workflow}' is not enforced: no server here has ${missing.join(', ')}`
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

function triggerText(triggers: WorkflowDefinition['triggers']): string {
  const { server, category, tools, changes, keywords } = triggers
  const parts = [
    server === undefined ? [] : `server=${server}`,
    category === undefined ? [] : `category=${category}`,
    tools === undefined ? [] : `tools=[${tools.join(', ')}]`,
    changes === true ? 'changes' : [],
    keywords === undefined ? [] : `keywords=[${keywords.join(', ')}]`,
  ]
  return parts.flat().join(', ') || 'none'
}
