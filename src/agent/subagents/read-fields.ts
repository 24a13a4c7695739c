import { type Diagnostic, nearest } from '../../base/index.ts'
import {
  formatAllowedTools,
  parseAllowedTools,
  splitArguments,
  type YamlMap,
  type YamlNode,
} from '../../skill/index.ts'
import {
  type AgentField,
  agentFields,
  fieldName,
  foreignFields,
  modeAliases,
} from './agent-fields.ts'
import { type PermissionMode, permissionModes } from './config.ts'

/** The fields of a file, typed; undefined where one is absent or cannot be used. */
export interface AgentFileFields {
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
export function readAgentFields(
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
