import { nearest } from '../core/text.ts'
import { PromptTemplateError } from './errors.ts'

export type TemplateValue = string | number | boolean

/** A prompt with placeholders, and what goes into them. */
export interface PromptTemplate {
  /** Text in which `{{name}}` stands for a variable; `\{{` is two braces and no placeholder. */
  template: string
  variables: Readonly<Record<string, TemplateValue>>
}

/** A prompt as text that is used as it stands, or as a template. */
export type PromptText = string | PromptTemplate

/**
 * The text of a prompt. Values go in as they are: a placeholder in one of them is not read again.
 *
 * @example
 * promptText({ template: 'You review {{language}}.', variables: { language: 'Rust' } })
 * // 'You review Rust.'
 * @throws {PromptTemplateError} for a placeholder without a value, or one that is not closed.
 */
export function promptText(prompt: PromptText): string {
  return typeof prompt === 'string' ? prompt : renderTemplate(prompt)
}

const placeholder = /\\\{\{|\{\{(?:\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\}\})?/g

function renderTemplate({ template, variables }: PromptTemplate): string {
  const missing = new Set<string>()
  const text = template.replaceAll(
    placeholder,
    (match, name: string | undefined, offset: number) => {
      if (match.startsWith('\\')) return '{{'
      if (name === undefined) throw unreadable(template, offset)
      if (Object.hasOwn(variables, name)) return String(variables[name])
      missing.add(name)
      return ''
    },
  )
  if (missing.size > 0) throw withoutValue([...missing], Object.keys(variables))
  return text
}

function unreadable(template: string, offset: number): PromptTemplateError {
  const line = template.slice(0, offset).split('\n').length
  return new PromptTemplateError({
    code: 'template-placeholder',
    message: `Line ${line} of the prompt template has {{ without a name and }}.`,
    hint: 'A placeholder is {{name}}; write \\{{ for two braces.',
  })
}

function withoutValue(names: readonly string[], given: readonly string[]): PromptTemplateError {
  const [first = ''] = names
  const meant = names.length === 1 ? nearest(first, given) : undefined
  return new PromptTemplateError({
    code: 'template-variable',
    message: `The prompt template needs ${names.map((name) => `{{${name}}}`).join(', ')}, which has no value.`,
    hint:
      meant === undefined
        ? `Variables that were given: ${given.join(', ') || 'none'}.`
        : `Did you mean {{${meant}}}?`,
  })
}
