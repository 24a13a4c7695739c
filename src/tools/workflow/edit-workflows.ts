import type { Diagnostic } from '../../core/diagnostic.ts'
import { objectOf } from '../../core/json.ts'
import { placesIn } from '../../core/text.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { StateFileError } from '../../core/errors.ts'
import { withFileLock } from '../../core/file-lock.ts'
import { requireWithin, writeFileAtomic } from '../../core/write-files.ts'
import type { JsonValue } from '../../skill/model.ts'
import {
  jsonc,
  readDefinition,
  readJsonText,
  readWorkflows,
  workflowsPlace,
} from './read-workflows.ts'
import { WorkflowInvalidError } from './errors.ts'
import type { JsonObject, WorkflowDefinition } from './model.ts'

export type WorkflowEdit =
  | { kind: 'write'; name: string; definition: JsonObject }
  | { kind: 'set'; name: string; key: string; value: JsonValue }
  | { kind: 'remove'; name: string }

export interface EditedFile {
  path: string
  /** '' for a file that did not exist. */
  before: string
  after: string
}

const maxBytes = 16 * 1024 * 1024

/** Changes one workflow in its file; comments, order and all other content stay. */
export function editWorkflows(
  path: string,
  edit: WorkflowEdit,
  options: { dryRun?: boolean | undefined; within?: string | undefined } = {},
): Promise<EditedFile> {
  const apply = async (): Promise<EditedFile> => {
    const before = readText(path)
    const after = editText(before, path, edit)
    if (options.dryRun !== true && after !== before) await writeFileAtomic(path, after)
    return { path, before, after }
  }
  if (options.dryRun === true) return apply()
  if (options.within !== undefined) requireWithin(options.within, path)
  return withFileLock(path, apply)
}

/** The text of a definition as it stands in its file, for a user to edit. */
export function definitionText(workflow: WorkflowDefinition): string {
  const parser = jsonc()
  const text = readText(workflow.path)
  const { root, place } = rootOf(text, workflow.path, workflow.name)
  const node = parser.findNodeAtLocation(root, [...place])
  const value: JsonValue = node === undefined ? {} : parser.getNodeValue(node)
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** Checks a definition that is not in a file yet, so it has no lines. @throws {WorkflowInvalidError} */
export function checkDefinition(
  name: string,
  definition: JsonValue,
  path: string,
): WorkflowDefinition {
  const { workflow, diagnostics } = readOne(JSON.stringify({ [name]: definition }), path)
  if (workflow !== undefined) return { ...workflow, line: undefined }
  throw invalid(
    name,
    diagnostics.map((found) => ({ ...found, line: undefined, column: undefined })),
  )
}

/** The same for text; {@link WorkflowInvalidError.diagnostics} have its lines. */
export function checkDefinitionText(name: string, text: string, path: string): JsonObject {
  // In the line of the opening brace, so that lines are those of the text.
  const { workflow, diagnostics } = readOne(`{${JSON.stringify(name)}: ${text}\n}`, path)
  if (workflow === undefined) throw invalid(name, diagnostics)
  const value: unknown = jsonc().parse(text, [], { allowTrailingComma: true })
  return { ...objectOf<JsonValue>(value) }
}

function readOne(text: string, path: string) {
  const { workflows, diagnostics } = readWorkflows([{ path, text }])
  return { workflow: workflows[0], diagnostics }
}

function readText(path: string): string {
  const file = readRegularFile(path, { maxBytes })
  if (file.ok) return file.text
  if (file.code === 'file-missing') return ''
  throw new StateFileError({ code: file.code, message: file.message })
}

/** The text of a file after an edit of one workflow. @throws {StateFileError} as {@link editWorkflows} */
export function editText(before: string, path: string, edit: WorkflowEdit): string {
  const text = before.trim() === '' ? '{}\n' : before
  const { place } = rootOf(text, path, edit.name)
  if (edit.kind === 'remove' && place.length === 0) {
    throw new StateFileError({
      code: 'workflow-is-file',
      message: `${path} is this one workflow and nothing else`,
      hint: 'Delete the file.',
    })
  }
  const target = edit.kind === 'set' ? [...place, edit.key] : [...place]
  const parser = jsonc()
  const value =
    edit.kind === 'remove' ? undefined : edit.kind === 'set' ? edit.value : edit.definition
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol }
  const edits = parser.modify(text, target, value, { formattingOptions })
  const after = parser.applyEdits(text, edits)
  if (edit.kind !== 'remove') checkResult(after, path, edit.name)
  return after.endsWith('\n') ? after : `${after}\n`
}

/** The edited file must define the workflow; other definitions in it may be broken as before. */
function checkResult(after: string, path: string, name: string): void {
  const { root, place } = rootOf(after, path, name)
  const node = jsonc().findNodeAtLocation(root, [...place])
  const diagnostics: Diagnostic[] = []
  const reader = { placeOf: placesIn(after), path, diagnostics }
  if (node !== undefined && readDefinition(reader, name, node) !== undefined) return
  throw invalid(name, diagnostics)
}

export function invalid(name: string, diagnostics: readonly Diagnostic[]): WorkflowInvalidError {
  return new WorkflowInvalidError({
    code: 'workflow-invalid',
    message: `workflow '${name}' cannot be kept as it is; nothing was written`,
    diagnostics,
  })
}

function rootOf(text: string, path: string, name: string) {
  const reading = readJsonText(text)
  if (!reading.ok || reading.root.type !== 'object') {
    const { line } = placesIn(text)(reading.ok ? reading.root.offset : reading.offset)
    const problem = reading.ok ? 'it must be a JSON object' : reading.message
    throw new StateFileError({
      code: 'workflows-syntax',
      message: `${path}, line ${line}: ${problem}; nothing was written`,
      hint: 'Fix the file first.',
    })
  }
  const { root } = reading
  const single = jsonc().findNodeAtLocation(root, ['prerequisites'])?.type === 'array'
  return { root, place: single ? [] : [...workflowsPlace(root), name] }
}
