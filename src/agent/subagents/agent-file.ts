import { type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import { nearest } from '../../core/text.ts'
import { formatAllowedTools, parseAllowedTools } from '../../skill/allowed-tools.ts'
import { splitArguments } from '../../skill/arguments.ts'
import { readFrontmatter } from '../../skill/parse.ts'
import type { YamlMap, YamlNode } from '../../skill/read-yaml.ts'
import { checkConfig, type PermissionMode, permissionModes, type SubagentConfig } from './config.ts'

export interface AgentFileReading {
  config: SubagentConfig | undefined
  name?: string | undefined
  /** The positions of the values of its fields, by the names of the documentation. */
  places?: FieldPlaces | undefined
  diagnostics: readonly Diagnostic[]
}

export type FieldPlaces = ReadonlyMap<string, { line: number; column: number }>

interface ReadAgentFileOptions {
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
 */
export function readAgentFile(
  content: string | Uint8Array,
  { path, toolsWhenAbsent }: ReadAgentFileOptions,
): AgentFileReading {
  const reading = readFrontmatter(content, path)
  if (!reading.ok) return { config: undefined, diagnostics: reading.diagnostics }
  const { root, split } = reading
  const fields = new FieldReader(root, path)
  const name = fields.text('name')
  const model = fields.text('model')
  const body = split.body.trim()
  const timeout = fields.integer('timeout')
  const config: SubagentConfig = {
    name: name ?? '',
    description: fields.text('description') ?? '',
    model: model === 'inherit' ? undefined : model,
    tools: fields.tools('tools') ?? (toolsWhenAbsent === 'parent' ? ['*'] : undefined),
    disallowedTools: fields.tools('disallowed-tools'),
    skills: fields.skills(),
    maxTurns: fields.integer('max-turns'),
    permissionMode: fields.mode(),
    systemPrompt: body === '' ? undefined : body,
    config: timeout === undefined ? undefined : { timeoutMs: timeout * 1000 },
  }
  const places = new Map(root.entries.map(({ key, value }) => [fieldName(key.text), value]))
  for (const { field, message, hint } of checkConfig(config)) {
    fields.report(`agent-${field}`, 'error', places.get(field) ?? root, `${message}.`, hint)
  }
  const diagnostics = [...reading.diagnostics, ...fields.diagnostics]
  return { config: hasErrors(diagnostics) ? undefined : config, name, places, diagnostics }
}

const fieldNames: readonly string[] = [
  'name',
  'description',
  'model',
  'tools',
  'disallowed-tools',
  'skills',
  'max-turns',
  'permission-mode',
  'timeout',
]

/** Fields of Claude Code that have no effect here, so that they are not reported as misspellings. */
const foreignFields: ReadonlySet<string> = new Set(
  'background color effort hooks initial-prompt isolation mcp-servers memory'.split(' '),
)

/** Names of permission modes in other clients; none of them allows more than `default`. */
const modeAliases: ReadonlyMap<string, PermissionMode> = new Map([
  ['default', 'default'],
  ['plan', 'plan'],
  ['dont-ask', 'dont-ask'],
  ['dontAsk', 'dont-ask'],
  ['acceptEdits', 'default'],
  ['auto', 'default'],
  ['bypassPermissions', 'default'],
])

/** The spelling of the documentation: `maxTurns` and `max_turns` are `max-turns`. */
function fieldName(written: string): string {
  return written
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`)
    .replaceAll('_', '-')
    .toLowerCase()
}

class FieldReader {
  readonly diagnostics: Diagnostic[] = []
  readonly #path: string
  readonly #nodes = new Map<string, YamlNode>()

  constructor(root: YamlMap, path: string) {
    this.#path = path
    for (const { key, value } of root.entries) {
      const name = fieldName(key.text)
      if (this.#nodes.has(name)) {
        const message = `\`${key.text}\` is there twice, in two spellings; the first one counts.`
        this.report('field-twice', 'warning', key, message, 'Remove one of them.')
      } else if (fieldNames.includes(name)) this.#nodes.set(name, value)
      else if (!foreignFields.has(name)) {
        const message = `\`${key.text}\` is not a field of a subagent and has no effect.`
        this.report('field-unknown', 'warning', key, message, allowed(name, fieldNames))
      }
    }
  }

  text(name: string): string | undefined {
    const node = this.#present(name)
    if (node?.kind === 'scalar') return node.text.trim() || undefined
    return this.#wrongType(name, node, 'a text')
  }

  /** Undefined where the field is absent; empty where it is there and names nothing. */
  tools(name: 'tools' | 'disallowed-tools'): readonly string[] | undefined {
    const node = this.#nodes.get(name)
    if (node === undefined) return undefined
    if (isWords(node)) return parseAllowedTools(node).map((tool) => formatAllowedTools([tool]))
    this.#wrongType(name, node, 'a list of tools, or a text such as `Read, Bash(git:*)`')
    // Neither may give more than was written down.
    return name === 'tools' ? [] : ['*']
  }

  /** Words of a text; an item of a list may carry arguments after the name of the skill. */
  skills(): readonly string[] | undefined {
    const node = this.#present('skills')
    if (node === undefined || !isWords(node)) {
      return this.#wrongType('skills', node, 'a list of names of skills')
    }
    if (node.kind === 'scalar') return splitArguments(node.text.replaceAll(',', ' '))
    const items = node.kind === 'list' ? node.items : []
    return items.flatMap((item) => scalarText(item) || [])
  }

  integer(name: string): number | undefined {
    const node = this.#present(name)
    const text = scalarText(node)
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
    return this.#wrongType(name, node, 'a whole number from 1')
  }

  mode(): PermissionMode | undefined {
    const node = this.#present('permission-mode')
    if (node === undefined) return undefined
    const text = scalarText(node)
    const mode = modeAliases.get(text)
    if (mode === undefined) {
      const message = `\`permission-mode\` is \`${text}\`, which is none.`
      this.report('permission-mode', 'error', node, message, allowed(text, permissionModes))
    } else if (mode === 'default' && text !== 'default') {
      const message = `\`permission-mode: ${text}\` has no effect here; the approver is still asked.`
      this.report('permission-mode', 'warning', node, message)
    }
    return mode
  }

  report(
    code: string,
    severity: 'error' | 'warning',
    { line, column }: YamlNode,
    message: string,
    hint?: string,
  ): void {
    this.diagnostics.push({ code, severity, message, path: this.#path, line, column, hint })
  }

  /** Undefined also for `null`. */
  #present(name: string): YamlNode | undefined {
    const node = this.#nodes.get(name)
    return node?.kind === 'scalar' && node.value === null ? undefined : node
  }

  #wrongType(name: string, node: YamlNode | undefined, wanted: string): undefined {
    if (node !== undefined)
      this.report('field-type', 'error', node, `\`${name}\` must be ${wanted}.`)
  }
}

function isWords(node: YamlNode): boolean {
  if (node.kind === 'list') return node.items.every((item) => item.kind === 'scalar')
  return node.kind === 'scalar'
}

function scalarText(node: YamlNode | undefined): string {
  return node?.kind === 'scalar' ? node.text.trim() : ''
}

function allowed(written: string, names: readonly string[]): string {
  const meant = nearest(written, names)
  return meant === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${meant}?`
}
