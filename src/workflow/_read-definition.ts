import type { Node } from 'jsonc-parser'
import { type Diagnostic, hasErrors } from '../base/index.ts'
import {
  definitionFields,
  forbiddenKeys,
  prerequisiteFields,
  reservedOutputs,
  triggerFields,
} from './_fields.ts'
import { fieldsOf, namesOf, type NodeReader, objectOf, report, textOf } from './_read-node.ts'
import type { Prerequisite, WorkflowDefinition, WorkflowMode, WorkflowTriggers } from './model.ts'

/** A definition, or undefined after an error in it was reported. */
export function readDefinition(
  reader: NodeReader,
  name: string,
  node: Node,
): WorkflowDefinition | undefined {
  // Its findings apart: to look for an error among those of all would take the square of them.
  const diagnostics: Diagnostic[] = []
  const definition = definitionAt({ ...reader, diagnostics }, name, node)
  for (const diagnostic of diagnostics) reader.diagnostics.push(diagnostic)
  return hasErrors(diagnostics) ? undefined : definition
}

function definitionAt(
  reader: NodeReader,
  name: string,
  node: Node,
): WorkflowDefinition | undefined {
  const where = `workflow '${name}'`
  if (!isWorkflowName(name)) {
    report(reader, node, 'workflow-name', `${where}: a name has 1 to 64 letters, digits, _ . or -`)
  }
  if (node.type !== 'object') {
    report(reader, node, 'workflow-wrong-type', `${where} must be an object`)
    return undefined
  }
  const fields = fieldsOf(reader, node, definitionFields, where)
  const triggers = readTriggers(reader, fields.get('triggers'), where)
  const prerequisites = readPrerequisites(reader, fields.get('prerequisites'), where)
  return {
    name,
    enabled: fields.get('enabled')?.value !== false,
    description: textOf(fields.get('description')) ?? '',
    triggers,
    prerequisites,
    mode: modeOf(textOf(fields.get('mode'))),
    createdAt: textOf(fields.get('created_at')),
    path: reader.path,
    line: reader.placeOf(node.offset).line,
  }
}

/** Letters of any script, digits, `_`, `.` and `-`, at most 64; never a key of JavaScript's own. */
export function isWorkflowName(name: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{N}\p{M}_.-]{0,63}$/u.test(name) && !forbiddenKeys.has(name)
}

function readTriggers(reader: NodeReader, node: Node | undefined, where: string): WorkflowTriggers {
  if (node === undefined) return {}
  const fields = fieldsOf(reader, node, triggerFields, `${where}, triggers`)
  return {
    category: textOf(fields.get('category')),
    tools: namesOf(fields.get('tools')),
    keywords: namesOf(fields.get('keywords')),
  }
}

function readPrerequisites(
  reader: NodeReader,
  node: Node | undefined,
  where: string,
): Prerequisite[] {
  const steps = (node?.children ?? []).map((child, index) =>
    readPrerequisite(reader, child, `${where}, prerequisite ${index + 1}`),
  )
  return steps.toSorted((a, b) => a.step - b.step)
}

function readPrerequisite(reader: NodeReader, node: Node, where: string): Prerequisite {
  const fields = fieldsOf(reader, node, prerequisiteFields, where)
  const params = fields.get('params')
  const output = fields.get('output_as')
  const outputAs = textOf(output)
  if (output !== undefined && outputAs !== undefined && reservedOutputs.has(outputAs)) {
    const message = `${where}: output_as must not be ${outputAs}, which references use for something else`
    report(reader, output, 'workflow-output-reserved', message)
  }
  return {
    step: Number(fields.get('step')?.value ?? 0),
    tool: textOf(fields.get('tool')) ?? '',
    description: textOf(fields.get('description')) ?? '',
    required: fields.get('required')?.value !== false,
    params: params && objectOf(reader, params, `${where}, params`),
    outputAs,
    scope: namesOf(fields.get('scope')),
    invalidatedBy: namesOf(fields.get('invalidated_by')),
  }
}

function modeOf(text: string | undefined): WorkflowMode {
  return text === 'warn' || text === 'suggest' ? text : 'enforce'
}
