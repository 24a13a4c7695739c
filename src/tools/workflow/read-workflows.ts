import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as Jsonc from 'jsonc-parser'
import type * as Zod from 'zod'
import { compareDiagnostics, type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import { deepestJson, isObject, tooDeepAt } from '../../core/json.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { didYouMean, placesIn, type TextPlaces } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import { canonicalCategory } from '../category/categorise.ts'
import type { JsonObject, WorkflowDefinition, WorkflowReading } from './model.ts'

interface WorkflowFile {
  path: string
  /** Default: what the disk holds; a file that does not exist defines nothing. */
  text?: string | undefined
}

/** A tool cache with thousands of tools is well below it. */
const maxBytes = 16 * 1024 * 1024

/**
 * Reads `.skillrail/workflows.json`, the `workflows` of a tool cache, or an object of the same
 * shape: names with their definitions, or one definition with its `name` inside. JSON with
 * comments. Of several definitions of one name the first counts. A definition with an error is left
 * out and reported with its line.
 */
export function readWorkflows(files: readonly WorkflowFile[]): WorkflowReading {
  const diagnostics: Diagnostic[] = []
  const byName = new Map<string, WorkflowDefinition>()
  for (const workflow of files.flatMap((file) => readFile(file, diagnostics))) {
    const { name, path, line } = workflow
    const first = byName.get(name)
    if (first === undefined) {
      byName.set(name, workflow)
      continue
    }
    const message = `workflow '${name}' is defined in ${first.path} too, which counts`
    diagnostics.push({ code: 'workflow-shadowed', severity: 'info', message, path, line })
  }
  return { workflows: [...byName.values()], diagnostics }
}

/** Where in a file the workflows stand: below `workflows` in a tool cache, else at the top. */
export function workflowsPlace(root: Jsonc.Node): readonly string[] {
  const inner = nodeAt(root, ['workflows'])
  return inner !== undefined && !isDefinition(inner) ? ['workflows'] : []
}

function readFile(file: WorkflowFile, diagnostics: Diagnostic[]): WorkflowDefinition[] {
  const { path } = file
  const text = file.text ?? readText(path, diagnostics)
  if (text === undefined || text.trim() === '') return []
  const reader: NodeReader = { placeOf: placesIn(text), path, diagnostics }
  const fail = (offset: number, code: string, message: string, hint?: string): [] => {
    report(reader, offset, code, message, hint === undefined ? {} : { hint })
    return []
  }
  const reading = readJsonText(text)
  if (!reading.ok) {
    const message = `${reading.message}; no workflow of this file counts`
    return fail(reading.offset, 'workflows-syntax', message)
  }
  const { root } = reading
  if (root.type !== 'object') {
    return fail(root.offset, 'workflows-syntax', 'the file must be a JSON object')
  }
  if (isDefinition(root)) {
    const name: unknown = nodeAt(root, ['name'])?.value
    if (typeof name === 'string') return [readDefinition(reader, name, root) ?? []].flat()
    const hint = 'Write it as { "name-of-the-workflow": { … } }.'
    return fail(root.offset, 'workflow-field-missing', 'the workflow has no name', hint)
  }
  const inner = nodeAt(root, ['workflows'])
  if (workflowsPlace(root).length === 0) {
    return isToolCache(root) ? [] : readNamed(reader, root, 'the file')
  }
  if (inner === undefined) return []
  if (inner.type === 'object') return readNamed(reader, inner, 'workflows')
  return fail(inner.offset, 'workflow-wrong-type', 'workflows must be an object')
}

function readText(path: string, diagnostics: Diagnostic[]): string | undefined {
  const file = readRegularFile(path, { maxBytes })
  if (file.ok) return file.text
  const { code, message } = file
  if (code !== 'file-missing') diagnostics.push({ code, severity: 'error', message, path })
  return undefined
}

function readNamed(reader: NodeReader, node: Jsonc.Node, where: string): WorkflowDefinition[] {
  return [...membersOf(reader, node, where)].flatMap(([key, value]) =>
    key === '$schema' && value.type === 'string' ? [] : (readDefinition(reader, key, value) ?? []),
  )
}

function isDefinition(node: Jsonc.Node): boolean {
  const isList = (key: string, type: string): boolean => nodeAt(node, [key])?.type === type
  return isList('triggers', 'object') && isList('prerequisites', 'array')
}

function isToolCache(root: Jsonc.Node): boolean {
  return nodeAt(root, ['categories']) !== undefined && nodeAt(root, ['version']) !== undefined
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

export function loadWorkflows(project: string): WorkflowReading {
  return readWorkflows(workflowFiles(project))
}

interface NodeReader {
  placeOf: TextPlaces
  path: string
  diagnostics: Diagnostic[]
}

/** JSON with comments as a tree, or what is wrong with it and where. */
export function readJsonText(
  text: string,
): { ok: true; root: Jsonc.Node } | { ok: false; message: string; offset: number } {
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    return { ok: false, message: `nested deeper than ${deepestJson} levels`, offset: deep }
  }
  const parser = jsonc()
  const errors: Jsonc.ParseError[] = []
  const root = parser.parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first !== undefined || root === undefined) {
    const name = first === undefined ? 'EmptyFile' : parser.printParseErrorCode(first.error)
    // `PropertyNameExpected` reads `property name expected`.
    const words = name.replace(/(?<!^)[A-Z]/g, ' $&').toLowerCase()
    return { ok: false, message: `no JSON: ${words}`, offset: first?.offset ?? 0 }
  }
  return { ok: true, root }
}

export function jsonc(): typeof Jsonc {
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  return parser
}

function report(
  { placeOf, path, diagnostics }: NodeReader,
  offset: number,
  code: string,
  message: string,
  more: Partial<Diagnostic> = {},
): void {
  diagnostics.push({ code, severity: 'error', message, path, ...placeOf(offset), ...more })
}

function membersOf(reader: NodeReader, node: Jsonc.Node, where: string) {
  const members = new Map<string, Jsonc.Node>()
  for (const property of node.children ?? []) {
    const [keyNode, value] = property.children ?? []
    if (keyNode === undefined || value === undefined) continue
    const key = String(keyNode.value)
    if (forbiddenKeys.has(key)) {
      const message = `${where}: the key ${key} is not allowed`
      report(reader, keyNode.offset, 'workflow-key-forbidden', message)
    } else if (members.has(key)) {
      report(reader, keyNode.offset, 'workflow-key-repeated', `${where}: ${key} is there twice`, {
        hint: 'Keep one of them.',
      })
    } else members.set(key, value)
  }
  return members
}

export function readDefinition(
  { placeOf, path, diagnostics: all }: NodeReader,
  name: string,
  node: Jsonc.Node,
): WorkflowDefinition | undefined {
  // A list of its own keeps the search for errors linear.
  const reader: NodeReader = { placeOf, path, diagnostics: [] }
  const definition = definitionAt(reader, name, node)
  // In the order of the file, whichever check found them.
  all.push(...reader.diagnostics.toSorted(compareDiagnostics))
  return hasErrors(reader.diagnostics) ? undefined : definition
}

function definitionAt(reader: NodeReader, name: string, node: Jsonc.Node) {
  const where = `workflow '${name}'`
  if (!/^[\p{L}\p{N}][\p{L}\p{N}\p{M}_.-]{0,63}$/u.test(name) || forbiddenKeys.has(name)) {
    const message = `${where}: a name has 1 to 64 letters, digits, _ . or -`
    report(reader, node.offset, 'workflow-name', message)
  }
  if (node.type !== 'object') {
    report(reader, node.offset, 'workflow-wrong-type', `${where} must be an object`)
    return undefined
  }
  const value = jsonOf(reader, node, where, [])
  schema ??= definitionSchema()
  const parsed = schema.safeParse(value)
  for (const issue of parsed.error?.issues ?? []) reportIssue(reader, where, node, issue)
  // Unknown keys are warnings: without them the definition may be whole.
  const { data } = parsed.success ? parsed : schema.safeParse(withoutUnknown(value, parsed.error))
  if (data === undefined) return undefined
  const { created_at: createdAt, prerequisites, enabled, description, triggers, mode } = data
  const { category } = triggers
  return {
    name,
    enabled,
    description,
    triggers:
      category === undefined ? triggers : { ...triggers, category: canonicalCategory(category) },
    prerequisites: prerequisites
      .map(({ output_as: outputAs, invalidated_by: invalidatedBy, ...step }) => ({
        ...step,
        outputAs,
        invalidatedBy,
      }))
      .toSorted((a, b) => a.step - b.step),
    mode,
    createdAt,
    path: reader.path,
    line: reader.placeOf(node.offset).line,
  }
}

let schema: ReturnType<typeof definitionSchema> | undefined

/** A workflow as it is written in a file. A message says what a field may hold. */
function definitionSchema() {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const filled = (says: string): Zod.ZodString => z.string(says).regex(/\S/, says)
  const text = filled('text that is not empty')
  const names = z.array(filled('a list of texts'), 'a list of texts')
  const boolean = z.boolean('true or false')
  const step = 'a whole number from 1 to 1000'
  const outputName = 'a name: a letter, then letters, digits, _ or -'
  const prerequisite = z.strictObject(
    {
      step: z.number(step).int(step).min(1, step).max(1000, step),
      tool: text,
      description: text,
      required: boolean.default(true),
      params: z.custom<JsonObject>(isObject, 'an object').optional(),
      output_as: z
        .string(outputName)
        .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, outputName)
        .refine((value) => !['call', 'steps', 'sql'].includes(value), {
          error: ({ input }) => `${String(input)}, which references use for something else`,
          params: { reserved: true },
        })
        .optional(),
      scope: names.optional(),
      invalidated_by: names.optional(),
    },
    'a list of objects',
  )
  return z.strictObject({
    name: text.optional(),
    enabled: boolean.default(true),
    description: text,
    triggers: z.strictObject(
      {
        server: text.optional(),
        category: text.optional(),
        tools: names.optional(),
        changes: boolean.optional(),
        keywords: names.optional(),
      },
      'an object',
    ),
    prerequisites: z.array(prerequisite, 'a list of objects'),
    mode: z.enum(['enforce', 'warn', 'suggest'], 'enforce, warn or suggest').default('enforce'),
    created_at: text.optional(),
  })
}

function reportIssue(
  reader: NodeReader,
  workflow: string,
  node: Jsonc.Node,
  issue: Zod.core.$ZodIssue,
): void {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(path)
    for (const key of issue.keys) {
      const { offset } = nodeAt(node, [...path, key])?.parent ?? node
      const message = `${placeText(workflow, path)}: ${key} is not a field; it is ignored`
      const hint = didYouMean(key, known) || `The fields are ${known.join(', ')}.`
      report(reader, offset, 'workflow-key-unknown', message, { severity: 'warning', hint })
    }
    return
  }
  // An element of a list is reported as its list.
  while (typeof path.at(-1) === 'number') path.pop()
  const key = String(path.pop())
  const where = placeText(workflow, path)
  const value = nodeAt(node, [...path, key])
  if (value === undefined) {
    const { offset } = nodeAt(node, path) ?? node
    const hint = `${key} is ${issue.message}.`
    report(reader, offset, 'workflow-field-missing', `${where}: ${key} is missing`, { hint })
    return
  }
  const isReserved = issue.code === 'custom' && issue.params?.['reserved'] === true
  const code = isReserved ? 'workflow-output-reserved' : 'workflow-wrong-type'
  const message = `${where}: ${key} must ${isReserved ? 'not ' : ''}be ${issue.message}`
  // A list with several wrong elements is wrong once.
  if (reader.diagnostics.some((known) => known.message === message)) return
  report(reader, value.offset, code, message)
}

function placeText(workflow: string, path: readonly (string | number)[]): string {
  const [field, index] = path
  if (field === undefined) return workflow
  return typeof index === 'number'
    ? `${workflow}, prerequisite ${index + 1}`
    : `${workflow}, ${field}`
}

function knownKeys([field]: readonly (string | number)[]): string[] {
  if (schema === undefined) return []
  const { triggers, prerequisites } = schema.shape
  if (field === undefined) return Object.keys(schema.shape)
  return Object.keys(field === 'triggers' ? triggers.shape : prerequisites.element.shape)
}

function nodeAt(node: Jsonc.Node, path: (string | number)[]): Jsonc.Node | undefined {
  return path.length === 0 ? node : jsonc().findNodeAtLocation(node, path)
}

/** The value without the keys that the issues call unknown. */
function withoutUnknown(value: JsonValue, error: Zod.ZodError): JsonValue {
  const copy: JsonValue = structuredClone(value)
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') continue
    const holder = issue.path.reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
      copy,
    )
    if (typeof holder !== 'object' || holder === null) continue
    for (const key of issue.keys) Reflect.deleteProperty(holder, key)
  }
  return copy
}

function jsonOf(
  reader: NodeReader,
  node: Jsonc.Node,
  workflow: string,
  path: readonly (string | number)[],
): JsonValue {
  if (node.type === 'array') {
    return (node.children ?? []).map((child, index) =>
      jsonOf(reader, child, workflow, [...path, index]),
    )
  }
  if (node.type === 'object') {
    const inParams = path.at(2) === 'params'
    const where = placeText(workflow, path) + (inParams ? ', params' : '')
    return Object.fromEntries(
      Array.from(membersOf(reader, node, where), ([key, value]) => [
        key,
        jsonOf(reader, value, workflow, [...path, key]),
      ]),
    )
  }
  const value: JsonValue = node.value
  return value
}

const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
