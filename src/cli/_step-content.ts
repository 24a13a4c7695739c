import { resolve } from 'node:path'
import type { PlannedStep, StepContent } from '../chain/index.ts'
import { activateSkill, discoverOptionsFrom, loadSkill, skillAt } from '../library/index.ts'
import { matchPrompt, planInjection, renderInjection } from '../trigger/index.ts'
import { argumentText } from '../skill/arguments.ts'
import type { ChainProject } from './_chain-project.ts'

/**
 * Exactly what a model gets when the skill of a step is activated, and the references that its own
 * triggers inject when a person types the skill with these arguments.
 */
export function stepContent(
  project: ChainProject,
  step: PlannedStep,
  given: readonly string[],
): StepContent {
  const { runtime, settings } = project.context
  const path = resolve(project.workspace, step.path)
  const info = skillAt(path, discoverOptionsFrom(runtime, settings))
  const typed = argumentText(given)
  const { content } = activateSkill({
    skill: loadSkill(info),
    source: 'code',
    arguments: typed,
    trustLevel: step.trust,
  })
  const { name, directory, fields } = info
  const skill = { name, directory, path, triggers: fields.triggers }
  const prompt = typed === '' ? `/${name}` : `/${name} ${typed}`
  const { matches } = matchPrompt(prompt, [skill])
  const { injected } = planInjection(matches, { mayInject: () => step.trust === 'trusted' })
  return {
    content,
    references: renderInjection(injected),
    wishes: { allowedTools: fields.allowedTools ?? [], model: fields.model },
  }
}
