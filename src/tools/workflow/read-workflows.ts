import { join } from 'node:path'
import type * as Zod from 'zod'
import { compareDiagnostics, type Diagnostic, hasErrors } from '#core/errors'
import { isPresent, readRegularFile } from '#core/read-files'
import { didYouMean } from '#core/text'
import { isList, isObject, objectOf, type JsonValue } from '#core/json'
import { canonicalCategory } from '#tools/category/categorise'
import { type Document, readDocument } from '#tools/config/document'
import { zod } from '#core/zod'
import {
  type FileDefinition,
  type JsonObject,
  type Prerequisite,
  type WorkflowDefinition,
  workflowModes,
  type WorkflowReading,
} from './model.ts'
import { foldName } from './match.ts'
import { valueAt } from './references.ts'

interface WorkflowFile {
  path: string
  /** Only its key `workflows` defines workflows; without them the file can be made again. */
  isCache?: true | undefined
  /** Default: the content on disk; a missing file defines nothing. */
  text?: string | undefined
}

/** A tool cache with thousands of tools is much smaller. */
const maxBytes = 16 * 1024 * 1024

/**
 * Reads `.skillrail/workflows.json`, the `workflows` of a tool cache, or an object of the same shape: names
 * with their definitions, or one definition with its `name` inside. JSON may have comments. If a name is
 * defined more than once, the first definition counts. An invalid definition is left out and reported with
 * its line.
 */
export function readWorkflows(files: readonly WorkflowFile[]): WorkflowReading {
  const diagnostics: Diagnostic[] = []
  const byName = new Map<string, WorkflowDefinition>()
  for (const workflow of files.flatMap((file) => readFile(file, diagnostics))) {
    const { name, path, line } = workflow
    const first = byName.get(name)
    if (!first) {
      byName.set(name, workflow)
      continue
    }
    const message = `workflow '${name}' is defined in ${first.path} too, which counts`
    diagnostics.push({ code: 'workflow-shadowed', severity: 'info', message, path, line })
  }
  return { workflows: [...byName.values()], diagnostics }
}

/** Returns the place of the workflows in a file: its top for a file with one definition. */
export function workflowsPlace(root: JsonObject): readonly string[] {
  return !isDefinition(root) && isObject(root['workflows']) ? ['workflows'] : []
}

export function isDefinition(value: unknown): boolean {
  return isObject(value) && isObject(value['triggers']) && isList(value['prerequisites'])
}

type Place = readonly (string | number)[]

interface Source {
  path: string
  document: Document
  diagnostics: Diagnostic[]
}

function readFile(file: WorkflowFile, diagnostics: Diagnostic[]): WorkflowDefinition[] {
  const { path, isCache } = file
  const text = file.text ?? readText(file, diagnostics)
  if (text === undefined) return []
  // An interrupted write can leave an empty cache.
  const document = readDocument(text, 'json', isCache && text.trim() === '')
  if (!document.ok) {
    const { line, column } = document
    // The rest of a damaged cache does not show whether the lost part had workflows.
    const message = isCache
      ? `${document.message}; the workflows that it may have had cannot be read`
      : `${document.message}; no workflow of this file counts`
    const hint = isCache ? damagedCacheHint : undefined
    const facts = { code: 'workflows-syntax', severity: 'error', message } as const
    diagnostics.push({ ...facts, path, line, column, hint })
    return []
  }
  if (isCache && document.root['workflows'] === undefined) return []
  const source = { path, document, diagnostics }
  const { name, workflows, categories, version } = document.root
  if (isDefinition(document.root)) {
    if (typeof name === 'string') return readDefinition(source, [], name, document.root)
    const hint = 'Write it as { "name-of-the-workflow": { … } }.'
    report(source, [], 'workflow-field-missing', 'the workflow has no name', { hint })
    return []
  }
  if (workflows !== undefined && !isObject(workflows)) {
    report(source, ['workflows'], 'workflow-wrong-type', 'workflows must be an object')
    return []
  }
  const place = workflowsPlace(document.root)
  if (place.length === 0 && categories !== undefined && version !== undefined) return []
  reportRepeated(source, place)
  return Object.entries(place.length === 0 ? document.root : objectOf<JsonValue>(workflows))
    .filter(([key, value]) => key !== '$schema' || typeof value !== 'string')
    .flatMap(([key, value]) => readDefinition(source, [...place, key], key, value))
}

const damagedCacheHint =
  'Restore the file if it had workflows, or write a new one with: skillrail tools refresh'

function reportRepeated(source: Source, place: readonly string[]): void {
  for (const key of source.document.repeatedIn(place)) {
    const message = `${key} is there twice; the last one counts`
    report(source, [...place, key], 'workflow-key-repeated', message)
  }
}

/** Reports repeated keys in every object of a value. */
function reportRepeatedInside(source: Source, place: readonly string[], value: JsonValue): void {
  if (!isObject(value) && !isList(value)) return
  reportRepeated(source, place)
  for (const [key, inner] of Object.entries(value))
    reportRepeatedInside(source, [...place, key], inner)
}

function report(
  { path, document, diagnostics }: Source,
  place: Place,
  code: string,
  message: string,
  more: Partial<Diagnostic> = {},
): void {
  const line = document.lineOf(place.map(String)) ?? 1
  diagnostics.push({ code, severity: 'error', message, path, line, ...more })
}

/** Returns undefined for a missing file, and, with an error, for one that is empty or cannot be read. */
function readText({ path, isCache }: WorkflowFile, diagnostics: Diagnostic[]): string | undefined {
  const file = readRegularFile(path, { maxBytes })
  if (file.ok && (isCache || file.text.trim() !== '')) return file.text
  // An interrupted write can leave an empty file, and a broken link hides the file.
  if (!file.ok && file.code === 'file-missing' && !isPresent(path)) return undefined
  const { code, message } = file.ok
    ? { code: 'workflows-syntax', message: 'the file is empty; no workflow of this file counts' }
    : file
  diagnostics.push({ code, severity: 'error', message, path, line: file.ok ? 1 : undefined })
  return undefined
}

/** Returns the file for a project's workflows, which takes precedence over the tool caches. */
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
  return [
    { path: workflowsPath(project) },
    ...caches.map((names) => ({ path: join(project, ...names), isCache: true as const })),
  ]
}

export function loadWorkflows(project: string): WorkflowReading {
  return readWorkflows(workflowFiles(project))
}

/** Reads one definition; returns an empty list if it is invalid. */
function readDefinition(
  { path, document, diagnostics: allDiagnostics }: Source,
  place: Place,
  name: string,
  definition: JsonValue,
): WorkflowDefinition[] {
  // A separate list keeps the search for errors linear.
  const source: Source = { path, document, diagnostics: [] }
  const label = `workflow '${name}'`
  reportRepeatedInside(source, place.map(String), definition)
  // The clone has nothing that a key `__proto__` would add.
  const value = structuredClone(definition)
  const forbiddenKey = [name, ...keysIn(value)].find((key) => forbiddenKeys.has(key))
  if (forbiddenKey !== undefined) {
    const message = `${label}: the key ${forbiddenKey} is not allowed`
    report({ ...source, diagnostics: allDiagnostics }, place, 'workflow-key-forbidden', message)
    return []
  }
  if (!/^[\p{L}\p{N}][\p{L}\p{N}\p{M}_.-]{0,63}$/u.test(name)) {
    const message = `${label}: a name has 1 to 64 letters, digits, _ . or -`
    report(source, place, 'workflow-name', message)
  }
  schema ??= definitionSchema()
  const { data, error } = schema.definition.safeParse(value)
  for (const issue of error?.issues ?? []) reportIssue(source, place, label, value, issue)
  checkKeys(source, place, label, value)
  if (data && data.description === undefined) {
    const message = `${label} has no description; its name is used instead`
    const more = { severity: 'warning', hint: 'Write what it is for as "description".' } as const
    report(source, place, 'workflow-no-description', message, more)
  }
  if (data) checkAliases(source, place, label, data)
  // Sorted by place in the file, whichever check found them.
  allDiagnostics.push(...source.diagnostics.toSorted(compareDiagnostics))
  if (!data || hasErrors(source.diagnostics)) return []
  const { name: _name, created_at: createdAt, prerequisites, ...content } = data
  const { enabled, description = name, ...facts } = content
  const steps = prerequisites.toSorted((a, b) => a.step - b.step)
  const line = document.lineOf(place.map(String)) ?? 1
  const fields = { name, enabled, description, ...facts }
  return [{ ...fields, prerequisites: steps, createdAt, path, line }]
}

/** The schema of a definition, and its fields at each level. */
interface DefinitionSchema {
  definition: Zod.ZodType<FileDefinition>
  shape: object
  triggers: object
  step: object
}

let schema: DefinitionSchema | undefined

function definitionSchema(): DefinitionSchema {
  const z = zod()
  const nonEmpty = (says: string): Zod.ZodString => z.string(says).regex(/\S/, says)
  const text = nonEmpty('text that is not empty')
  const names = z.array(nonEmpty('a list of texts'), 'a list of texts')
  const boolean = z.boolean('true or false')
  const number = 'a whole number from 1 to 1000'
  const outputName = 'a letter, then letters, digits, _ or -, and not call, steps or sql'
  const triggers = {
    server: text.optional(),
    category: text.transform(canonicalCategory).optional(),
    tools: names.optional(),
    changes: boolean.optional(),
    keywords: names.optional(),
  }
  const step = {
    step: z.number(number).int(number).min(1, number).max(1000, number),
    tool: text,
    description: text,
    required: boolean.default(true),
    params: z.custom<JsonObject>(isObject, 'an object').optional(),
    output_as: z
      .string(outputName)
      .regex(/^(?!(?:call|steps|sql)$)[A-Za-z][A-Za-z0-9_-]{0,63}$/, outputName)
      .optional(),
    scope: names.optional(),
    invalidated_by: names.optional(),
  }
  const prerequisite = z
    .object(step, 'a list of objects')
    .transform(({ output_as: outputAs, invalidated_by: invalidatedBy, ...facts }): Prerequisite => {
      return { ...facts, outputAs, invalidatedBy }
    })
  const alias = 'a list of names, or of objects with tool and params'
  const aliasFields = {
    tool: text,
    /** The parameter values with which a call of this tool is a call of the named one. */
    params: z.custom<JsonObject>(isObject, 'an object').optional(),
  }
  const aliasSchema = z.union(
    [text.transform((tool) => ({ tool })), z.strictObject(aliasFields)],
    alias,
  )
  const shape = {
    name: text.optional(),
    enabled: boolean.default(true),
    /** Default: the name; the format's own examples have none. */
    description: text.optional(),
    triggers: z.object(triggers, 'an object'),
    prerequisites: z.array(prerequisite, 'a list of objects'),
    /** Other tools that a name in the workflow means, each a name or `{ tool, params }`. */
    aliases: z.record(z.string(), z.array(aliasSchema, alias), 'an object').optional(),
    mode: z.enum(workflowModes, 'enforce, warn or suggest').default('enforce'),
    created_at: text.optional(),
  }
  return { definition: z.object(shape, 'an object'), shape, triggers, step }
}

function reportIssue(
  source: Source,
  place: Place,
  workflow: string,
  value: JsonValue,
  { path, message }: Zod.core.$ZodIssue,
): void {
  const keyPath = path.map((key) => (typeof key === 'number' ? key : String(key)))
  // An element of a list is reported as the list.
  while (typeof keyPath.at(-1) === 'number') keyPath.pop()
  const way = keyPath.slice(0, -1)
  const key = keyPath.at(-1)
  const label = placeText(workflow, way)
  const holder = objectOf(valueAt(value, way))
  if (key === undefined) {
    report(source, place, 'workflow-wrong-type', `${label} must be ${message}`)
  } else if (!Object.hasOwn(holder, key)) {
    const [beside = ''] = Object.keys(holder)
    const hint = `${key} is ${message}.`
    const at = [...place, ...way, beside]
    report(source, at, 'workflow-field-missing', `${label}: ${key} is missing`, { hint })
  } else {
    const text = `${label}: ${key} must be ${message}`
    // A list with several wrong elements is reported once.
    if (source.diagnostics.some((earlier) => earlier.message === text)) return
    report(source, [...place, ...keyPath], 'workflow-wrong-type', text)
  }
}

function checkKeys(source: Source, place: Place, workflow: string, value: JsonValue): void {
  if (!schema) return
  const { shape, triggers, step } = schema
  const steps = valueAt(value, ['prerequisites'])
  const objects: (readonly [Place, object])[] = [
    [[], shape],
    [['triggers'], triggers],
    ...(isList(steps) ? steps : []).map((_, at) => [['prerequisites', at], step] as const),
  ]
  for (const [way, fields] of objects) {
    const fieldNames = Object.keys(fields)
    const label = placeText(workflow, way)
    for (const key of Object.keys(objectOf(valueAt(value, way)))) {
      if (fieldNames.includes(key)) continue
      const message = `${label}: ${key} is not a field; it is ignored`
      const hint = didYouMean(key, fieldNames) || `The fields are ${fieldNames.join(', ')}.`
      const more = { severity: 'warning', hint } as const
      report(source, [...place, ...way, key], 'workflow-key-unknown', message, more)
    }
  }
}

/** Warns about aliases of a tool that the workflow does not name, for example because of a typing error. */
function checkAliases(
  source: Source,
  place: Place,
  workflow: string,
  { triggers, prerequisites, aliases = {} }: FileDefinition,
): void {
  const steps = prerequisites.flatMap(({ tool, invalidatedBy = [] }) => [tool, ...invalidatedBy])
  const tools = [...new Set([...(triggers.tools ?? []), ...steps])]
  const foldedNames = new Set(tools.map(foldName))
  for (const key of Object.keys(aliases)) {
    if (foldedNames.has(foldName(key))) continue
    const label = placeText(workflow, ['aliases'])
    const message = `${label}: the workflow names no tool ${key}; its other names are ignored`
    const hint = didYouMean(key, tools) || `The workflow names ${tools.join(', ')}.`
    const more = { severity: 'warning', hint } as const
    report(source, [...place, 'aliases', key], 'workflow-key-unknown', message, more)
  }
}

function placeText(workflow: string, [field, index]: Place) {
  if (field === undefined) return workflow
  return typeof index === 'number'
    ? `${workflow}, prerequisite ${index + 1}`
    : `${workflow}, ${field}`
}

function keysIn(value: JsonValue): string[] {
  if (isList(value)) return value.flatMap(keysIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) => [key, ...keysIn(member)])
}

const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
