import { type Diagnostic, hasErrors, nearest } from '../../base/index.ts'
import {
  formatAllowedTools,
  parseAllowedTools,
  readFrontmatter,
  splitArguments,
  type YamlMap,
  type YamlNode,
} from '../../skill/index.ts'
import { checkConfig, type PermissionMode, permissionModes, type SubagentConfig } from './config.ts'

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

/** The fields of a file, typed; undefined where one is absent or cannot be used. */
interface AgentFileFields {
  name: string | undefined
  description: string | undefined
  model: string | undefined
  /** Undefined where the field is absent; empty where it is there and names nothing. */
  tools: readonly string[] | undefined
  disallowedTools: readonly string[] | undefined
  skills: readonly string[] | undefined
  maxTurns: number | undefined
  permissionMode: PermissionMode | undefined
  /** Seconds. */
  timeout: number | undefined
}

interface Reader {
  report: (
    code: string,
    severity: 'error' | 'warning',
    at: YamlNode,
    message: string,
    hint?: string,
  ) => void
}

/** Reads the frontmatter of a file that defines a subagent. Everything wrong has its line. */
function readAgentFields(
  root: YamlMap,
  path: string,
): { fields: AgentFileFields; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const reader: Reader = {
    report: (code, severity, { line, column }, message, hint) =>
      void diagnostics.push({ code, severity, message, path, line, column, hint }),
  }
  const nodes = placeFields(reader, root)
  const text = (name: string): string | undefined => readText(reader, name, nodes.get(name))
  const integer = (name: string): number | undefined => readInteger(reader, name, nodes.get(name))
  const model = text('model')
  const fields: AgentFileFields = {
    name: text('name'),
    description: text('description'),
    model: model === 'inherit' ? undefined : model,
    tools: readTools(reader, 'tools', nodes.get('tools')),
    disallowedTools: readTools(reader, 'disallowed-tools', nodes.get('disallowed-tools')),
    skills: readSkills(reader, nodes.get('skills')),
    maxTurns: integer('max-turns'),
    permissionMode: readMode(reader, nodes.get('permission-mode')),
    timeout: integer('timeout'),
  }
  return { fields, diagnostics }
}

function placeFields(reader: Reader, root: YamlMap): Map<string, YamlNode> {
  const known = new Map<string, AgentField>(agentFields.map((field) => [field.name, field]))
  const nodes = new Map<string, YamlNode>()
  for (const { key, value } of root.entries) {
    const name = fieldName(key.text)
    if (nodes.has(name)) {
      const message = `\`${key.text}\` is there twice, in two spellings; the first one counts.`
      reader.report('field-twice', 'warning', key, message, 'Remove one of them.')
    } else if (known.has(name)) nodes.set(name, value)
    else if (!foreignFields.includes(name)) {
      const meant = nearest(name, known.keys())
      const hint =
        meant === undefined
          ? `There are ${[...known.keys()].join(', ')}.`
          : `Did you mean ${meant}?`
      const message = `\`${key.text}\` is no field of a subagent and has no effect.`
      reader.report('field-unknown', 'warning', key, message, hint)
    }
  }
  return nodes
}

function isNull(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.value === null
}

function readText(reader: Reader, name: string, node: YamlNode | undefined): string | undefined {
  if (node === undefined || isNull(node)) return undefined
  if (node.kind === 'scalar') return node.text.trim() === '' ? undefined : node.text.trim()
  wrongType(reader, name, node, 'a text')
  return undefined
}

/** A field that is there and names nothing means nothing: `tools:` gives no tools anywhere. */
function readTools(
  reader: Reader,
  name: string,
  node: YamlNode | undefined,
): readonly string[] | undefined {
  if (node === undefined) return undefined
  if (!isWords(node)) {
    wrongType(reader, name, node, 'a list of tools, or a text such as `Read, Bash(git:*)`')
    // Neither may give more than was written down.
    return name === 'tools' ? [] : ['*']
  }
  return parseAllowedTools(node).map((tool) => formatAllowedTools([tool]))
}

/** Words of a text; an item of a list may carry arguments behind the name of the skill. */
function readSkills(reader: Reader, node: YamlNode | undefined): readonly string[] | undefined {
  if (node === undefined || isNull(node)) return undefined
  if (!isWords(node)) {
    wrongType(reader, 'skills', node, 'a list of names of skills')
    return undefined
  }
  if (node.kind === 'scalar') return splitArguments(node.text.replaceAll(',', ' '))
  if (node.kind === 'map') return []
  return node.items.flatMap((item) =>
    item.kind === 'scalar' && item.text.trim() !== '' ? [item.text.trim()] : [],
  )
}

function isWords(node: YamlNode): boolean {
  if (node.kind === 'list') return node.items.every((item) => item.kind === 'scalar')
  return node.kind === 'scalar'
}

function readInteger(reader: Reader, name: string, node: YamlNode | undefined): number | undefined {
  if (node === undefined || isNull(node)) return undefined
  const text = node.kind === 'scalar' ? node.text.trim() : ''
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  wrongType(reader, name, node, 'a whole number from 1')
  return undefined
}

function readMode(reader: Reader, node: YamlNode | undefined): PermissionMode | undefined {
  if (node === undefined || isNull(node)) return undefined
  const text = node.kind === 'scalar' ? node.text.trim() : ''
  const mode = Object.hasOwn(modeAliases, text) ? modeAliases[text] : undefined
  if (mode === undefined) {
    const meant = nearest(text, permissionModes)
    const hint =
      meant === undefined ? `There are ${permissionModes.join(', ')}.` : `Did you mean ${meant}?`
    const message = `\`permission-mode\` is \`${text}\`, which is none.`
    reader.report('permission-mode', 'error', node, message, hint)
  } else if (mode === 'default' && text !== 'default') {
    const message = `\`permission-mode: ${text}\` allows nothing here; whoever approves is asked.`
    reader.report('permission-mode', 'warning', node, message)
  }
  return mode
}

function wrongType(reader: Reader, name: string, node: YamlNode, wanted: string): void {
  reader.report('field-type', 'error', node, `\`${name}\` must be ${wanted}.`)
}

/** One field of a file that defines a subagent. */
interface AgentField {
  /** As it is written; `max_turns` and `maxTurns` are read as `max-turns`. */
  name: string
  kind: 'text' | 'tools' | 'skills' | 'integer' | 'mode'
  constraint: string
}

/** Every field that is read, in the order of the documentation. The body is the system prompt. */
const agentFields: readonly AgentField[] = [
  {
    name: 'name',
    kind: 'text',
    constraint: 'Required. Up to 64 letters, digits, `-`, `_` and `.`.',
  },
  { name: 'description', kind: 'text', constraint: 'Required. When to delegate to it.' },
  {
    name: 'model',
    kind: 'text',
    constraint: '`provider:name`; absent or `inherit`: the parent’s.',
  },
  {
    name: 'tools',
    kind: 'tools',
    constraint:
      'A list, or a text separated by commas or spaces: `Read`, `Bash(git:*)`, `mcp__server`, `*`. Absent: none; in `.claude/agents`: the parent’s.',
  },
  {
    name: 'disallowed-tools',
    kind: 'tools',
    constraint: 'Taken away from `tools`, in the same forms.',
  },
  {
    name: 'skills',
    kind: 'skills',
    constraint: 'Skills it has from the start: a list, or names separated by commas or spaces.',
  },
  { name: 'max-turns', kind: 'integer', constraint: 'Model calls, from 1. Default 50.' },
  {
    name: 'permission-mode',
    kind: 'mode',
    constraint: '`default`, `plan` or `dont-ask`. Default `default`.',
  },
  {
    name: 'timeout',
    kind: 'integer',
    constraint: 'Seconds for a whole delegation, from 1. Default: no limit.',
  },
]

/** Fields of Claude Code that mean nothing here, so that they are no misspellings. */
const foreignFields: readonly string[] = [
  'background',
  'color',
  'effort',
  'hooks',
  'initial-prompt',
  'isolation',
  'mcp-servers',
  'memory',
]

/** Names of permission modes as they are written elsewhere; none of them allows more than `default`. */
const modeAliases: Readonly<Record<string, 'default' | 'plan' | 'dont-ask'>> = {
  default: 'default',
  plan: 'plan',
  'dont-ask': 'dont-ask',
  dontAsk: 'dont-ask',
  acceptEdits: 'default',
  auto: 'default',
  bypassPermissions: 'default',
}

/** The spelling of the table: `maxTurns` and `max_turns` are `max-turns`. */
function fieldName(written: string): string {
  return written
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`)
    .replaceAll('_', '-')
    .toLowerCase()
}
