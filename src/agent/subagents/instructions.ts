import type { Activation } from '../../library/index.ts'
import { promptText } from '../prompt/template.ts'
import type { SubagentConfig } from './config.ts'

/**
 * The system prompt of a subagent: its own, then the whole content of its skills.
 *
 * @throws {PromptTemplateError} for a template that lacks a value.
 */
export function childInstructions(
  { name, systemPrompt }: SubagentConfig,
  skills: readonly Activation[],
): string {
  const own = promptText(systemPrompt ?? '').trim()
  return [
    own === '' ? `You are the subagent ${name}. ${howToWork}` : own,
    ...skills.map(({ content }) => content),
  ].join('\n\n')
}

const howToWork =
  'Carry out the task that you are given, with the tools that you have, and answer with the result. Nobody answers questions: decide what is open yourself, and say so.'
