import { checkArgument, type ValueRule } from '#core/api-options'
import { isObject } from '#core/json'
import { didYouMean } from '#core/text'
import { PromptTemplateError } from './errors.ts'

/** A prompt with placeholders and their values. */
export interface PromptTemplate {
  /** Text in which `{{name}}` stands for a variable; `\{{` is two braces and no placeholder. */
  template: string
  variables: Readonly<Record<string, string | number | boolean>>
}

/** A prompt as text or as a template. */
export type PromptText = string | PromptTemplate

export const promptRule: ValueRule = {
  form: 'a text or { template, variables }',
  fits: (value) =>
    typeof value === 'string' ||
    (isObject(value) && typeof value['template'] === 'string' && isObject(value['variables'])),
}

const placeholder = /\\\{\{|\{\{(?:\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\}\})?/g

/**
 * Returns the text of a prompt. Values are inserted unchanged; placeholders in them have no effect.
 *
 * @example
 * promptText({ template: 'You review {{language}}.', variables: { language: 'Rust' } })
 * // 'You review Rust.'
 * @throws {PromptTemplateError} for a placeholder without a value, or one that is not closed.
 */
export function promptText(prompt: PromptText): string {
  checkArgument(prompt, 'A prompt', promptRule)
  if (typeof prompt === 'string') return prompt
  const { template, variables } = prompt
  const missing = new Set<string>()
  const text = template.replaceAll(placeholder, (match, name: string | undefined, at: number) => {
    if (match.startsWith('\\')) return '{{'
    if (name === undefined) {
      const line = template.slice(0, at).split('\n').length
      const message = `Line ${line} of the prompt template has {{ without a name and }}.`
      throw new PromptTemplateError({
        code: 'template-placeholder',
        message,
        hint: 'Write \\{{ for two braces.',
      })
    }
    if (!Object.hasOwn(variables, name)) missing.add(name)
    return String(variables[name])
  })
  if (missing.size === 0) return text
  const placeholders = Array.from(missing, (name) => `{{${name}}}`).join(', ')
  const message = `The prompt template needs ${placeholders}, which has no value.`
  const [first = ''] = missing
  const hint = didYouMean(first, Object.keys(variables)) || undefined
  throw new PromptTemplateError({ code: 'template-variable', message, hint })
}
