import { type Diagnostic, hasErrors } from '../../base/index.ts'
import { readFrontmatter } from '../../skill/index.ts'
import { fieldName } from './agent-fields.ts'
import { checkConfig } from './check-config.ts'
import type { SubagentConfig } from './config.ts'
import { readAgentFields } from './read-fields.ts'

/** A file that defines a subagent, as text: what could be read, and what is wrong with it. */
export interface AgentFileReading {
  /** Undefined where the file cannot be used. */
  config: SubagentConfig | undefined
  /** As it is written; undefined where it cannot be read. */
  name?: string | undefined
  /** Where the values of its fields are, by the names of the documentation. */
  places?: ReadonlyMap<string, FieldPlace> | undefined
  diagnostics: readonly Diagnostic[]
}

export interface FieldPlace {
  line: number
  column: number
}

export interface ReadAgentFileOptions {
  path: string
  /**
   * What an absent `tools` means. `none` everywhere except in `.claude/agents`, whose owner defines
   * it as all that the parent has (code.claude.com/docs/en/sub-agents).
   */
  toolsWhenAbsent: 'none' | 'parent'
}

/**
 * Reads a subagent from Markdown: the fields from its frontmatter, by the reader that skills have,
 * and the system prompt from the body. Never throws for what is in the file.
 *
 * @example
 * const text = '---\nname: tester\ndescription: Runs tests.\ntools: Bash(npm test)\n---\nRun the tests.\n'
 * const { config, diagnostics } = readAgentFile(text, { path: 'tester.md', toolsWhenAbsent: 'none' })
 */
export function readAgentFile(
  content: string | Uint8Array,
  { path, toolsWhenAbsent }: ReadAgentFileOptions,
): AgentFileReading {
  const reading = readFrontmatter(content, path)
  if (!reading.ok) return { config: undefined, diagnostics: reading.diagnostics }
  const { fields, diagnostics: found } = readAgentFields(reading.root, path)
  const { timeout, tools, name = '', description = '', ...rest } = fields
  const inherited = toolsWhenAbsent === 'parent' ? ['*'] : undefined
  const body = reading.split.body.trim()
  const config: SubagentConfig = {
    ...rest,
    name,
    description,
    tools: tools ?? inherited,
    systemPrompt: body === '' ? undefined : body,
    config: timeout === undefined ? undefined : { timeoutMs: timeout * 1000 },
  }
  const at = { line: reading.root.line, column: reading.root.column }
  const problems = checkConfig(config).map(({ field, message, hint }): Diagnostic => {
    const node = reading.root.entries.find(({ key }) => key.text === field)?.value ?? at
    const { line, column } = node
    return {
      code: `agent-${field}`,
      severity: 'error',
      message: `${message}.`,
      path,
      line,
      column,
      hint,
    }
  })
  const diagnostics = [...reading.diagnostics, ...found, ...problems]
  const places = new Map(
    reading.root.entries.map(({ key, value: { line, column } }) => [
      fieldName(key.text),
      { line, column },
    ]),
  )
  return {
    config: hasErrors(diagnostics) ? undefined : config,
    name: fields.name,
    places,
    diagnostics,
  }
}
