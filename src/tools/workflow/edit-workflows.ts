import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { type Diagnostic, StateFileError, UsageError } from '#core/errors'
import { readRegularFile } from '#core/read-files'
import { withFileLock } from '#core/file-lock'
import { requireWithin, writeFileAtomic } from '#core/write-files'
import type { JsonValue } from '#core/json'
import { readDocument } from '#tools/config/document'
import { isDefinition, readWorkflows, workflowsPlace } from './read-workflows.ts'
import type { JsonObject, WorkflowDefinition } from './model.ts'
import { valueAt } from './references.ts'

export type WorkflowEdit =
  | { kind: 'write'; name: string; definition: JsonObject }
  | { kind: 'set'; name: string; key: string; value: JsonValue }
  | { kind: 'remove'; name: string }

const maxBytes = 16 * 1024 * 1024

/** Changes one workflow in its file; comments, order and all other content stay. */
export function editWorkflows(
  path: string,
  edit: WorkflowEdit,
  options: { dryRun?: boolean | undefined; within?: string | undefined } = {},
) {
  const apply = async () => {
    // '' for a file that did not exist.
    const before = readText(path)
    const after = editText(before, path, edit)
    if (options.dryRun !== true && after !== before) await writeFileAtomic(path, after)
    return { path, before, after }
  }
  if (options.dryRun === true) return apply()
  if (options.within !== undefined) requireWithin(options.within, path)
  return withFileLock(path, apply)
}

/** Returns the text of a definition from its file, for a user to edit. */
export function definitionText({ path, name }: WorkflowDefinition): string {
  const { root, place } = rootOf(readText(path), path, name)
  return `${JSON.stringify(valueAt(root, place) ?? {}, undefined, 2)}\n`
}

/** Checks a definition that is not in a file yet, so it has no lines. @throws {UsageError} */
export function checkDefinition(
  name: string,
  definition: JsonValue,
  path: string,
): WorkflowDefinition {
  const { workflow, diagnostics } = readOne(JSON.stringify({ [name]: definition }), path)
  if (workflow) return { ...workflow, line: undefined }
  throw invalid(
    name,
    diagnostics.map((diagnostic) => ({ ...diagnostic, line: undefined, column: undefined })),
  )
}

/** Checks the text of a definition; the lines in {@link UsageError.diagnostics} are those of the text. */
export function checkDefinitionText(name: string, text: string, path: string): JsonObject {
  // The text begins on the line of the opening brace, so that the lines are those of the text.
  const { workflow, diagnostics } = readOne(`{${JSON.stringify(name)}: ${text}\n}`, path)
  if (!workflow) throw invalid(name, diagnostics)
  const document = readDocument(text, 'json')
  return document.ok ? document.root : {}
}

function readOne(text: string, path: string) {
  const { workflows, diagnostics } = readWorkflows([{ path, text }])
  return { workflow: workflows[0], diagnostics }
}

function readText(path: string) {
  const file = readRegularFile(path, { maxBytes })
  if (file.ok) return file.text
  if (file.code === 'file-missing') return ''
  throw new StateFileError({ code: file.code, message: file.message })
}

/**
 * Returns the text of a file after an edit of one workflow. @throws {StateFileError} as {@link
 * editWorkflows}
 */
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
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const target = edit.kind === 'set' ? [...place, edit.key] : [...place]
  const value = editedValue(edit)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol }
  const edits = parser.modify(text, target, value, { formattingOptions })
  const after = parser.applyEdits(text, edits)
  if (edit.kind !== 'remove') requireDefinition(after, path, edit.name)
  return after.endsWith('\n') ? after : `${after}\n`
}

function editedValue(edit: WorkflowEdit): JsonValue | undefined {
  if (edit.kind === 'remove') return undefined
  return edit.kind === 'set' ? edit.value : edit.definition
}

/** The edited file must define the workflow; other definitions in it may be as broken as before. */
function requireDefinition(text: string, path: string, name: string): void {
  const { workflows, diagnostics } = readWorkflows([{ path, text }])
  if (workflows.every((workflow) => workflow.name !== name)) throw invalid(name, diagnostics)
}

export function invalid(name: string, diagnostics: readonly Diagnostic[]): UsageError {
  return new UsageError({
    code: 'workflow-invalid',
    message: `workflow '${name}' is invalid; nothing was written`,
    diagnostics,
  })
}

function rootOf(text: string, path: string, name: string) {
  const document = readDocument(text, 'json')
  if (!document.ok) {
    throw new StateFileError({
      code: 'workflows-syntax',
      message: `${path}, line ${document.line ?? 1}: ${document.message}; nothing was written`,
      hint: 'Fix the file first.',
    })
  }
  const { root } = document
  return { root, place: isDefinition(root) ? [] : [...workflowsPlace(root), name] }
}
