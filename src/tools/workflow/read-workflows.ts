import { join } from 'node:path'
import type { Node } from 'jsonc-parser'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { placesIn } from '../../core/text.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { membersOf, type NodeReader, readDefinition, readJsonText, report } from './definition.ts'
import type { WorkflowDefinition, WorkflowReading } from './model.ts'

export interface WorkflowFile {
  path: string
  /** Default: what the disk holds; a file that does not exist defines nothing. */
  text?: string | undefined
}

export interface ReadWorkflowsOptions {
  /** The one name of a category that has several; default: as it is written. */
  canonicalCategory?: ((name: string) => string) | undefined
}

/** A tool cache with thousands of tools is well below it. */
const maxBytes = 16 * 1024 * 1024

/**
 * Reads `.skillrail/workflows.json`, the `workflows` of a tool cache, or an object of the same
 * shape: names with their definitions, or one definition with its `name` inside. JSON with
 * comments. Of several definitions of one name the first counts. A definition with an error is left
 * out and reported with its line.
 */
export function readWorkflows(
  files: readonly WorkflowFile[],
  options: ReadWorkflowsOptions = {},
): WorkflowReading {
  const diagnostics: Diagnostic[] = []
  const byName = new Map<string, WorkflowDefinition>()
  for (const file of files) {
    for (const workflow of readFile(file, diagnostics)) {
      const first = byName.get(workflow.name)
      if (first === undefined) byName.set(workflow.name, canonical(workflow, options))
      else diagnostics.push(shadowed(workflow, first))
    }
  }
  return { workflows: [...byName.values()], diagnostics }
}

/** Where in a file the workflows stand: below `workflows` in a tool cache, else at the top. */
export function workflowsPlace(root: Node): readonly string[] {
  const inner = memberOf(root, 'workflows')
  return inner !== undefined && !isDefinition(inner) ? ['workflows'] : []
}

function readFile(file: WorkflowFile, diagnostics: Diagnostic[]): WorkflowDefinition[] {
  const { path } = file
  const text = file.text ?? readText(path, diagnostics)
  if (text === undefined || text.trim() === '') return []
  const reader: NodeReader = { placeOf: placesIn(text), path, diagnostics }
  const reading = readJsonText(text)
  if (!reading.ok) {
    report(
      reader,
      reading.offset,
      'workflows-syntax',
      `${reading.message}; no workflow of this file counts`,
    )
    return []
  }
  const { root } = reading
  if (root.type !== 'object') {
    report(reader, root.offset, 'workflows-syntax', 'the file must be a JSON object')
    return []
  }
  if (isDefinition(root)) return readSingle(reader, root)
  if (workflowsPlace(root).length === 0) {
    return isToolCache(root) ? [] : readNamed(reader, root, 'the file')
  }
  const inner = memberOf(root, 'workflows')
  if (inner?.type === 'object') return readNamed(reader, inner, 'workflows')
  if (inner !== undefined) {
    report(reader, inner.offset, 'workflow-wrong-type', 'workflows must be an object')
  }
  return []
}

function readText(path: string, diagnostics: Diagnostic[]): string | undefined {
  const file = readRegularFile(path, { maxBytes })
  if (file.ok) return file.text
  if (file.code !== 'file-missing') {
    diagnostics.push({ code: file.code, severity: 'error', message: file.message, path })
  }
  return undefined
}

function readNamed(reader: NodeReader, node: Node, where: string): WorkflowDefinition[] {
  return [...membersOf(reader, node, where)].flatMap(([key, value]) =>
    key === '$schema' && value.type === 'string' ? [] : (readDefinition(reader, key, value) ?? []),
  )
}

function readSingle(reader: NodeReader, root: Node): WorkflowDefinition[] {
  const name: unknown = memberOf(root, 'name')?.value
  if (typeof name !== 'string') {
    report(reader, root.offset, 'workflow-field-missing', 'the workflow has no name', {
      hint: 'Write it as { "name-of-the-workflow": { … } }.',
    })
    return []
  }
  const workflow = readDefinition(reader, name, root)
  return workflow === undefined ? [] : [workflow]
}

function isDefinition(node: Node): boolean {
  const isList = (key: string, type: string): boolean => memberOf(node, key)?.type === type
  return isList('triggers', 'object') && isList('prerequisites', 'array')
}

function isToolCache(root: Node): boolean {
  return memberOf(root, 'categories') !== undefined && memberOf(root, 'version') !== undefined
}

function memberOf(node: Node, key: string): Node | undefined {
  if (node.type !== 'object') return undefined
  return node.children?.find((property) => property.children?.[0]?.value === key)?.children?.[1]
}

function canonical(workflow: WorkflowDefinition, { canonicalCategory }: ReadWorkflowsOptions) {
  const { category } = workflow.triggers
  if (canonicalCategory === undefined || category === undefined) return workflow
  const triggers = { ...workflow.triggers, category: canonicalCategory(category) }
  return { ...workflow, triggers }
}

function shadowed(workflow: WorkflowDefinition, first: WorkflowDefinition): Diagnostic {
  return {
    code: 'workflow-shadowed',
    severity: 'info',
    message: `workflow '${workflow.name}' is defined in ${first.path} too, which counts`,
    path: workflow.path,
    line: workflow.line,
  }
}

/** Where a project's workflows are written; it takes precedence over the tool caches. */
export function workflowsPath(project: string): string {
  return join(project, '.skillrail', 'workflows.json')
}

export function workflowFiles(project: string): WorkflowFile[] {
  const caches = [
    ['.skillrail', 'tools.json'],
    ['.opencode', 'agent-skill-tools.json'],
    ['.opencode', 'skill-tools.json'],
    ['.opencode', 'mcp-tools.json'],
  ]
  return [workflowsPath(project), ...caches.map((names) => join(project, ...names))].map(
    (path) => ({ path }),
  )
}

/** The workflows of a project, from the disk. */
export function loadWorkflows(
  project: string,
  options: ReadWorkflowsOptions = {},
): WorkflowReading {
  return readWorkflows(workflowFiles(project), options)
}
